import type { Store } from '@sluice/journal';
import { isPrompt, type TranscriptEntry, type TranscriptSize } from '@sluice/sdk/stream';
import type { History, HistoryBounds } from './history.js';

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

const charactersPerToken = 4;

/**
 * The end of one transcript, as much of it as is within the bounds. A message is looked at when it comes in, and when it goes
 * out.
 */
class HistoryWindow {
  /** The size of the transcript when it was read. */
  end = 0;
  tokens = 0;
  readonly #bounds: Required<HistoryBounds>;
  /** Oldest first, and the tokens of each. */
  readonly #entries: TranscriptEntry[] = [];
  readonly #sizes: number[] = [];
  #prompts = 0;

  constructor(bounds: Required<HistoryBounds>) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Takes messages that came after the others, oldest first. */
  add(entries: readonly TranscriptEntry[]): void {
    for (const entry of entries) {
      const size = tokensOf(entry);
      this.#entries.push(entry);
      this.#sizes.push(size);
      this.#count(entry, size, 1);
    }
    const { maxMessages, maxTokens } = this.#bounds;
    while (this.length > maxMessages || this.tokens > maxTokens) {
      const oldest = this.#entries.shift();
      if (oldest !== undefined) this.#count(oldest, this.#sizes.shift() ?? 0, -1);
    }
  }

  /**
   * Takes messages that came before the others, as many of the newest as there is room for.
   *
   * @returns whether it took all of them.
   */
  addBefore(entries: readonly TranscriptEntry[]): boolean {
    return entries.toReversed().every((entry) => {
      const size = tokensOf(entry);
      if (this.tokens + size > this.#bounds.maxTokens) return false;
      this.#entries.unshift(entry);
      this.#sizes.unshift(size);
      this.#count(entry, size, 1);
      return true;
    });
  }

  /** The part that an agent gets (spec §15.5). */
  history(size: TranscriptSize): History {
    const all = this.#entries;
    const isWhole = size.messages === all.length;
    const history = isWhole ? [...all] : all.slice(this.#start());
    const messages = size.messages - history.length;
    const beforeHistory = { messages, prompts: size.prompts - this.#prompts };
    return { history, ...(!isWhole && { beforeHistory }) };
  }

  /** The beginning of a history that was cut off: with a turn, and else with something that answers no call before it. */
  #start(): number {
    if (this.#prompts > 0) return this.#entries.findIndex(isPrompt);
    const start = this.#entries.findIndex(({ role }) => role !== 'toolResult');
    return start < 0 ? this.length : start;
  }

  #count(entry: TranscriptEntry, size: number, by: 1 | -1): void {
    this.tokens += by * size;
    if (isPrompt(entry)) this.#prompts += by;
  }
}

function tokensOf(entry: TranscriptEntry): number {
  return Math.ceil(JSON.stringify(entry).length / charactersPerToken);
}
