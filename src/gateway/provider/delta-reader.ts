import type { Clock } from '../../kernel/index.js';
import { type StreamDelta, unreachedError } from '../../stream/index.js';
import { isAnotherMessage, type RunEndFact, type RunFact } from '../run/run-fact.js';

/** The longest text of a delta, in UTF-16 code units; of a longer one the end is kept. */
const maxTextLength = 256 * 1024;

/** The thoughts that content and final carry. */
interface Thought {
  thinking?: string;
  thinkingDurationMs?: number;
}

/** Makes the deltas of one run: thinking, then content, then one final or error (stream §4.4). */
export class DeltaReader {
  readonly #clock: Clock;
  readonly #push: (delta: StreamDelta) => void;
  readonly #joins: boolean;
  #thinking = '';
  /** The messages before the last, where all are wanted. */
  #before = '';
  #message = '';
  #content = '';
  #thinkingSinceMs: number | undefined;
  #thinkingDurationMs: number | undefined;

  /** @param messages `all`: the messages of the run one after the other, not the last alone. */
  constructor(clock: Clock, messages: 'last' | 'all', push: (delta: StreamDelta) => void) {
    this.#clock = clock;
    this.#joins = messages === 'all';
    this.#push = push;
  }

  take(fact: RunFact): void {
    if (fact.kind === 'thinking') {
      this.#thinkingSinceMs ??= this.#clock.monotonicMs();
      this.#thinking = textTail(fact.text, maxTextLength);
      const thinkingElapsedMs = this.#elapsedMs(this.#thinkingSinceMs);
      this.#push({ phase: 'thinking', thinking: this.#thinking, thinkingElapsedMs });
    } else if (fact.kind === 'text') {
      if (this.#joins && isAnotherMessage(this.#message, fact))
        this.#before = `${this.#content}\n\n`;
      this.#message = fact.text;
      this.#content = textTail(`${this.#before}${fact.text}`, maxTextLength);
      this.#push({ phase: 'content', content: this.#content, ...this.#thought() });
    } else if (fact.kind === 'end') this.#end(fact);
    // tools and compactions are no deltas: seed 003
  }

  #end(end: RunEndFact): void {
    if (end.how === 'done') {
      const said = this.#content === '' ? (end.text ?? '') : this.#content;
      const content = textTail(said, maxTextLength);
      this.#push({ phase: 'final', content, ...this.#thought() });
    } else if (end.how === 'aborted') this.#push({ phase: 'error', error: 'the run was stopped' });
    else
      this.#push(
        end.reachedAgent ? { phase: 'error', error: end.message } : unreachedError(end.message),
      );
  }

  /** How long it took is known from the first content on, and does not change then. */
  #thought(): Thought {
    if (this.#thinkingSinceMs === undefined) return {};
    this.#thinkingDurationMs ??= this.#elapsedMs(this.#thinkingSinceMs);
    return { thinking: this.#thinking, thinkingDurationMs: this.#thinkingDurationMs };
  }

  #elapsedMs(sinceMs: number): number {
    return this.#clock.monotonicMs() - sinceMs;
  }
}

/**
 * The end of a text that is too long. It is never cut within a character.
 *
 * @param maxLength in UTF-16 code units.
 */
function textTail(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const from = text.length - maxLength;
  const isLowHalf = (text.charCodeAt(from) & 0xfc00) === 0xdc00;
  return text.slice(isLowHalf ? from + 1 : from);
}
