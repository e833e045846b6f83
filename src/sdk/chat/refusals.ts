import { type Clock, type Logger, Timer } from '../../kernel/index.js';

const tellEveryMs = 60_000;

/** Counts the requests that a receiver refuses. The first one is told at once, and the others with their number, once a minute. */
export class Refusals implements Disposable {
  readonly #receiver: string;
  readonly #log: Logger;
  readonly #timer: Timer;
  readonly #counts = new Map<string, number>();

  constructor(receiver: string, log: Logger, clock: Clock) {
    this.#receiver = receiver;
    this.#log = log;
    this.#timer = new Timer(clock);
  }

  /** @param why one of few texts: never a word of whoever asked. */
  count(why: string): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1);
    if (!this.#timer.isSet) this.#tell();
  }

  #tell(): void {
    if (this.#counts.size === 0) return;
    const refused = Object.fromEntries(this.#counts);
    this.#log.warn('requests were refused', { receiver: this.#receiver, refused });
    this.#counts.clear();
    this.#timer.setIdly(tellEveryMs, () => this.#tell());
  }

  /** Tells of those that were not told yet. */
  [Symbol.dispose](): void {
    this.#tell();
    this.#timer.clear();
  }
}
