import {
  isPrompt,
  isSessionMessage,
  type SessionMessage,
  type TranscriptEntry,
  type TranscriptSize,
} from '../../stream/index.js';
import type { History, HistoryBounds } from './history.js';

const charactersPerToken = 4;

/**
 * The end of one transcript, as much of it as is within the bounds. A message is looked at when it comes in, and when it goes
 * out.
 */
export class HistoryWindow {
  /** The size of the transcript when it was read. */
  end = 0;
  tokens = 0;
  readonly #bounds: Required<HistoryBounds>;
  /** Oldest first, and the tokens of each. */
  readonly #entries: TranscriptEntry[] = [];
  readonly #sizes: number[] = [];
  #prompts = 0;
  /** Messages that agents do not read. */
  #unread = 0;

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
    const messages = history as (TranscriptEntry & SessionMessage)[]; // if each was found to be one
    const before = {
      messages: size.messages - history.length,
      prompts: size.prompts - this.#prompts,
    };
    return {
      history,
      ...(this.#unread === 0 && { messages }),
      ...(!isWhole && { beforeHistory: before }),
    };
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
    if (!isSessionMessage(entry)) this.#unread += by;
  }
}

function tokensOf(entry: TranscriptEntry): number {
  return Math.ceil(JSON.stringify(entry).length / charactersPerToken);
}
