import { type Clock, type Deferred, deferred, withTimeout } from 'sluice-kernel/internal';
import type { Place } from './slots.js';

/**
 * A gate where messages wait while extensions are replaced: what has begun goes on, what has not begun does not begin before the
 * gate is open again (spec §13.9).
 */
export class ReloadGate {
  readonly #clock: Clock;
  readonly #suspends: boolean;
  #under = 0;
  #closed: Deferred<void> | undefined;
  #closing = new AbortController();
  #waiting: (() => void)[] = [];

  /** @param how.suspends a message that waits for a person is given up when the gate closes, and claimed again from the journal. */
  constructor(clock: Clock, { suspends }: { readonly suspends: boolean }) {
    this.#clock = clock;
    this.#suspends = suspends;
  }

  /** Aborted as long as the gate is closed, for a message that waits for a person; never if none is given up. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  /** Does a job when the gate is open. */
  async pass<T>(job: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await job();
    } finally {
      this.leave();
    }
  }

  /** A job waits for a person, which may take days. Nobody waits for it, unless it is given up when the gate closes. */
  leaveForPerson(): void {
    if (!this.#suspends) this.leave();
  }

  /** A job that has waited for a person goes on. */
  async enterAfterPerson(): Promise<void> {
    if (!this.#suspends) await this.enter();
  }

  /** A job has ended, or nobody waits for it. */
  leave(): void {
    if (--this.#under === 0) for (const told of this.#waiting.splice(0)) told();
  }

  /** It goes on, when the gate is open. */
  async enter(): Promise<void> {
    while (this.#closed !== undefined) await this.#closed.promise;
    this.#under++;
  }

  /** It goes on now, if the gate is open. @returns whether it is. */
  enterNow(): boolean {
    if (this.isOpen) this.#under++;
    return this.isOpen;
  }

  /** A job that has its place goes on, when the gate is open. It holds no place until then: what has begun may need one. */
  async enterWith(place: Place): Promise<void> {
    while (!this.enterNow()) {
      place.leave();
      await this.#closed?.promise;
      await place.enter();
    }
  }

  /** Lets nothing begin any more, and everything again once it is disposed. One at a time closes it. */
  close(): Disposable {
    const opened = deferred();
    this.#closed = opened;
    if (this.#suspends) this.#closing.abort();
    return {
      [Symbol.dispose]: () => {
        this.#closed = undefined;
        if (this.#suspends) this.#closing = new AbortController();
        opened.resolve();
      },
    };
  }

  /** Waits until no job is under way, for so long. @returns how many are. */
  async quiet(timeoutMs: number): Promise<number> {
    if (this.#under === 0) return 0;
    const quiet = new Promise<void>((resolve) => this.#waiting.push(resolve));
    await withTimeout(quiet, timeoutMs, this.#clock, () => undefined);
    return this.#under;
  }
}
