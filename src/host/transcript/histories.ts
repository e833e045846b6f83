import type { TranscriptSize } from '../../stream/index.js';
import type { History, HistoryBounds } from './history.js';
import { HistoryWindow } from './history-window.js';
import type { Store } from './store.js';

/** Messages that are read at once. */
const page = 32;

const mostSessions = 512;
/** Four characters each: as many as a journal holds of its transcripts. */
const mostTokens = 1_000_000;

/**
 * The histories of the sessions that were read last. The next turn of such a session reads the messages that have come since, and
 * looks at no other (spec §15.9).
 *
 * @example
 * const histories = new Histories(store, { maxMessages: 50 });
 * await histories.read(sessionId, size); // { history: [...], beforeHistory: { messages: 412, prompts: 103 } }
 */
export class Histories {
  readonly #store: Pick<Store, 'readTranscript'>;
  readonly #bounds: Required<HistoryBounds>;
  /** By the ids of their sessions; the one that was read last comes last. */
  readonly #windows = new Map<string, HistoryWindow>();
  #tokens = 0;

  constructor(
    store: Pick<Store, 'readTranscript'>,
    { maxMessages = 200, maxTokens = 100_000 }: HistoryBounds = {},
  ) {
    this.#store = store;
    this.#bounds = { maxMessages, maxTokens };
  }

  /**
   * Reads the end of a transcript, within the bounds (spec §15.4, §15.5).
   *
   * @param size of the transcript as it is.
   * @throws what the store says.
   */
  async read(sessionId: string, size: TranscriptSize): Promise<History> {
    const held = this.#windows.get(sessionId);
    this.#forget(sessionId); // until it is up to date
    const added = size.messages - (held?.end ?? 0);
    const isNear = added >= 0 && added <= Math.min(page, this.#bounds.maxMessages);
    const window = held === undefined || !isNear ? await this.#wholeOf(sessionId, size) : held;
    if (window === held && added > 0)
      window.add(await this.#store.readTranscript(sessionId, { last: added }));
    window.end = size.messages;
    this.#hold(sessionId, window);
    return window.history(size);
  }

  async #wholeOf(sessionId: string, { messages }: TranscriptSize): Promise<HistoryWindow> {
    const window = new HistoryWindow(this.#bounds);
    const { maxMessages } = this.#bounds;
    for (let isMore = true; isMore && window.length < Math.min(messages, maxMessages); ) {
      const last = Math.min(page, maxMessages - window.length);
      const some = await this.#store.readTranscript(sessionId, { last, skip: window.length });
      isMore = window.addBefore(some) && some.length === last;
    }
    return window;
  }

  #hold(sessionId: string, window: HistoryWindow): void {
    this.#windows.set(sessionId, window);
    this.#tokens += window.tokens;
    for (const oldest of this.#windows.keys()) {
      if (this.#tokens <= mostTokens && this.#windows.size <= mostSessions) return;
      this.#forget(oldest);
    }
  }

  #forget(sessionId: string): void {
    this.#tokens -= this.#windows.get(sessionId)?.tokens ?? 0;
    this.#windows.delete(sessionId);
  }
}
