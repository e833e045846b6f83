import { type Clock, deferred, Timer } from 'sluice-kernel/internal';

/** Crash suspects that begin beside each other, where none of them is at its last attempt. */
const suspectsAtOnce = 4;

/** Milliseconds after which a crash suspect that has not ended its host keeps no other one from beginning. */
const clearedAfterMs = 1_000;

/** As `clearedAfterMs`, for one that waits and has used up its attempts: what runs beside it then must not be blamed on it. */
const clearedForUsedUpAfterMs = 30_000;

/**
 * A host makes its first last attempt when it has run for `lastAttemptAfterMs`, and others when it has run for so many times
 * that: where hosts end for other reasons, the first one has time to end, and others that had none would be blamed.
 */
const timesForOthers = 2.5;
/** As `timesForOthers`, of those that have used up their attempts. */
const timesForUsedUp = 10;

/** The rules by which the host claims crash suspects. */
export interface CrashSuspectRules {
  readonly clock: Clock;
  /** How often a message may be begun. */
  readonly maxAttempts: number;
  /** Milliseconds that the host must have run before its first last attempt. */
  readonly lastAttemptAfterMs: number;
}

/** A crash suspect whose turn has come. */
interface CrashSuspect {
  /** No other crash suspect waits or runs. */
  readonly isOnly: boolean;
  /** It has its place, and begins: the time that it survives counts from now. */
  begin(): void;
  /** It is no crash suspect any more: it has come so far that it waits for a person. */
  release(): void;
}

/** One that waits, or runs. */
interface Suspect {
  readonly attempts: number;
  /** Lets it begin. */
  readonly start: (isOnly: boolean) => void;
  /** Absent until it has its place. */
  beganAtMs?: number;
}

/**
 * Claims with care what had begun when its host ended (durability §7.7): any of it may be what ended it. Those with the
 * fewest attempts come first, a few at a time. A last attempt begins alone, and in a host that has run for a while: where
 * hosts end for other reasons, none of them is blamed for it. A suspect that has survived for a while holds up no other: a
 * turn that hangs ends no host. Those that have used up their attempts come last, so that it is known by then what became of
 * the others.
 */
export class CrashSuspects {
  readonly #rules: CrashSuspectRules;
  readonly #startedAtMs: number;
  #hasMadeLastAttempt = false;
  /** In the order of their coming. */
  readonly #waiting = new Set<Suspect>();
  readonly #running = new Set<Suspect>();
  readonly #timer: Timer;
  #isOver = false;

  constructor(rules: CrashSuspectRules) {
    this.#rules = rules;
    this.#timer = new Timer(rules.clock);
    this.#startedAtMs = rules.clock.monotonicMs();
  }

  /**
   * Does the work of a crash suspect when it is its turn.
   *
   * @param attempts how often it was begun.
   */
  async run<T>(attempts: number, work: (suspect: CrashSuspect) => Promise<T>): Promise<T> {
    const { promise: isOnly, resolve: start } = deferred<boolean>();
    const suspect: Suspect = { attempts, start };
    const release = (): void => {
      if (this.#running.delete(suspect)) this.#next();
    };
    const begin = (): void => {
      suspect.beganAtMs = this.#rules.clock.monotonicMs();
      this.#next();
    };
    this.#waiting.add(suspect);
    this.#next();
    try {
      return await work({ isOnly: await isOnly, begin, release });
    } finally {
      release();
    }
  }

  /** Begins none any more, and lets go of its timer. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer.clear();
  }

  /** The timer keeps the process: a host whose input has ended has this left to do. */
  #next(): void {
    this.#timer.clear();
    while (this.#waiting.size > 0 && !this.#isOver) {
      const fewest = Math.min(...[...this.#waiting].map(({ attempts }) => attempts));
      const leftMs = this.#mayBeginAtMs(fewest) - this.#rules.clock.monotonicMs();
      if (leftMs > 0) {
        if (leftMs < Number.POSITIVE_INFINITY) this.#timer.set(leftMs, () => this.#next());
        return;
      }
      const next = [...this.#waiting].find(({ attempts }) => attempts === fewest);
      if (next === undefined) return;
      this.#waiting.delete(next);
      const isOnly = this.#waiting.size === 0 && this.#running.size === 0;
      this.#running.add(next);
      this.#hasMadeLastAttempt ||= this.#isLast(next);
      next.start(isOnly);
    }
  }

  /** The time at which one with so many attempts may begin, as far as it is known: others may end before. */
  #mayBeginAtMs(attempts: number): number {
    const { maxAttempts, lastAttemptAfterMs } = this.#rules;
    const isUsedUp = attempts >= maxAttempts;
    const survivedMs = isUsedUp ? clearedForUsedUpAfterMs : clearedAfterMs;
    const cleared = (those: readonly Suspect[]): number[] =>
      those.map(({ beganAtMs = Number.POSITIVE_INFINITY }) => beganAtMs + survivedMs);
    const running = [...this.#running];
    if (this.#isLast({ attempts })) {
      const times = isUsedUp ? timesForUsedUp : timesForOthers;
      const livedMs = lastAttemptAfterMs * (this.#hasMadeLastAttempt ? times : 1);
      return Math.max(this.#startedAtMs + livedMs, ...cleared(running));
    }
    const [place = Number.NEGATIVE_INFINITY] = cleared(running)
      .toSorted((one, two) => two - one)
      .slice(suspectsAtOnce - 1);
    return Math.max(place, ...cleared(running.filter((one) => this.#isLast(one))));
  }

  #isLast({ attempts }: Pick<Suspect, 'attempts'>): boolean {
    return attempts >= this.#rules.maxAttempts - 1;
  }
}
