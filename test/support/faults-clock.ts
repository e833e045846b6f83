import type { Clock } from '../../src/kernel/internal.js';

/** A clock that stands still until it is told to go on. Wall time and monotonic time move apart on request. */
export interface FaultClock extends Clock {
  /** Lets monotonic and wall time pass, one timer after the other, each at its own moment. */
  advance(ms: number): void;
  /** Moves the wall clock alone, as an operator or a time server does. */
  stepWall(ms: number): void;
  /** Timers that are set and have not run. */
  readonly armed: number;
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Makes a clock for fault tests: nothing sleeps, and a budget ends at an exact tick. */
export function faultClock(wallMs = 1_773_532_800_000): FaultClock {
  let wall = wallMs;
  let mono = 0;
  const timers = new Set<Timer>();
  const nextDue = (untilMs: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers)
      if (timer.dueMs <= untilMs && (first === undefined || timer.dueMs < first.dueMs))
        first = timer;
    return first;
  };
  const passTo = (ms: number): void => {
    wall += ms - mono;
    mono = ms;
  };
  return {
    now: () => wall,
    monotonicMs: () => mono,
    setTimeout: (callback, delayMs) => {
      const timer: Timer = { dueMs: mono + delayMs, callback };
      timers.add(timer);
      return timer as object;
    },
    clearTimeout: (handle) => {
      timers.delete(handle as Timer); // it came from setTimeout above
    },
    advance: (ms) => {
      const untilMs = mono + ms;
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        timers.delete(timer);
        passTo(timer.dueMs);
        timer.callback();
      }
      passTo(untilMs);
    },
    stepWall: (ms) => {
      wall += ms;
    },
    get armed() {
      return timers.size;
    },
  };
}

/** Lets every promise that can settle now settle. No time passes on the virtual clock. */
export function settleAll(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A promise that the test settles. */
export interface Deferred {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Makes a promise that stays open until the test settles it. */
export function deferred(): Deferred {
  let resolve: Deferred['resolve'] = () => undefined;
  let reject: Deferred['reject'] = () => undefined;
  const promise = new Promise<unknown>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
