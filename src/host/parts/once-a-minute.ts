import type { Clock } from '../../kernel/index.js';

/** Milliseconds of a minute. */
const minuteMs = 60_000;

/**
 * Lets each key through once a minute. It holds the keys of the last minute, and no more than `limit`: of a crowd, the oldest is
 * forgotten early.
 *
 * @example
 * if (replies.take('console:ada')) reply();
 */
export class OnceAMinute {
  readonly #clock: Clock;
  readonly #limit: number;
  /** When each key was let through, the oldest first: monotonic milliseconds. */
  readonly #taken = new Map<string, number>();

  constructor(clock: Clock, limit = 10_000) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Tells whether a key goes through now; if so, it does not for a minute. */
  take(key: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [oldest, atMs] of this.#taken) {
      if (nowMs - atMs < minuteMs && this.#taken.size < this.#limit) break;
      this.#taken.delete(oldest);
    }
    if (this.#taken.has(key)) return false;
    this.#taken.set(key, nowMs);
    return true;
  }
}
