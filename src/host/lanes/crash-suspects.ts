import { type Clock, getOrMake, Timer } from 'sluice-kernel/internal';

/** Crash suspects that run beside each other, where none of them is at its last attempt. */
const suspectsAtOnce = 4;

/** The rules by which the host claims crash suspects. */
export interface CrashSuspectRules {
  readonly clock: Clock;
  /** How often a message may be begun. */
  readonly maxAttempts: number;
  /** Milliseconds that the host must have run before a last attempt is made. */
  readonly lastAttemptAfterMs: number;
}

/**
 * Claims with care what had begun when its host ended (durability §7.7): any of it may be what ended it. Those with the
 * fewest attempts come first, a few at a time. A last attempt is made alone, and by a host that has run for a while: where
 * hosts end for other reasons, none of them is blamed for it. Those that have used up their attempts come last, so that it is
 * known by then what became of the others.
 */
export class CrashSuspects {
  readonly #rules: CrashSuspectRules;
  readonly #settledAtMs: number;
  /** By their attempts, in the order of their coming. */
  readonly #waiting = new Map<number, Set<(isOnly: boolean) => void>>();
  #running = 0;
  #isAlone = false;
  readonly #timer: Timer;
  #isOver = false;

  constructor(rules: CrashSuspectRules) {
    this.#rules = rules;
    this.#timer = new Timer(rules.clock);
    this.#settledAtMs = rules.clock.monotonicMs() + rules.lastAttemptAfterMs;
  }

  /**
   * Does the work of a crash suspect when it is its turn.
   *
   * @param attempts how often it was begun.
   * @param work is told whether no other crash suspect waits. When it calls `release`, it is no crash suspect any more: it has come
   *   so far that
   *   it waits for a person.
   */
  async run<T>(
    attempts: number,
    work: (isOnly: boolean, release: () => void) => Promise<T>,
  ): Promise<T> {
    const isOnly = await new Promise<boolean>((resolve) => {
      getOrMake(this.#waiting, attempts, () => new Set()).add(resolve);
      this.#next();
    });
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#running--;
      this.#isAlone = false;
      this.#next();
    };
    try {
      return await work(isOnly, release);
    } finally {
      release();
    }
  }

  /** Begins none any more, and lets go of its timer. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer.clear();
  }

  #next(): void {
    while (this.#waiting.size > 0 && !this.#isOver) {
      const attempts = Math.min(...this.#waiting.keys());
      const isLast = attempts >= this.#rules.maxAttempts - 1;
      if (this.#isAlone || (isLast ? this.#running > 0 : this.#running >= suspectsAtOnce)) return;
      if (isLast && !this.#isSettled()) return;
      this.#isAlone = isLast;
      this.#running++;
      this.#begin(attempts);
    }
  }

  #begin(attempts: number): void {
    const same = this.#waiting.get(attempts);
    const [first] = same ?? [];
    if (same === undefined || first === undefined) return;
    same.delete(first);
    if (same.size === 0) this.#waiting.delete(attempts);
    first(this.#waiting.size === 0);
  }

  /**
   * Returns whether the host has run for long enough; if not, it looks again then. The timer keeps the process: a host whose input has
   * ended has this left to do.
   */
  #isSettled(): boolean {
    const leftMs = this.#settledAtMs - this.#rules.clock.monotonicMs();
    if (leftMs <= 0) return true;
    if (!this.#timer.isSet) this.#timer.set(leftMs, () => this.#next());
    return false;
  }
}
