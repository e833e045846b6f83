import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, TimerHandle } from 'sluice-kernel';

/** A clock that a test turns by hand. */
export interface VirtualClock extends Clock {
  /** How many timers are set. */
  readonly pending: number;
  /** Milliseconds until the first timer comes due; undefined if none is set. */
  readonly nextMs: number | undefined;
  /**
   * Lets time pass: fires the timers that come due in order of their time, then of their setting, each at its own
   * moment. Before the first and after each of them everything that waits for a promise goes on.
   *
   * @param ms from 0 up; 0 only lets promises go on.
   * @throws the error of a timer's callback; time then stands at that timer.
   */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * When a virtual clock starts, where a test does not say: 2026-03-15, midnight in UTC, as in the samples.
 *
 * @example
 * expect(outcome.event.occurredAt).toBe(virtualStartMs);
 */
export const virtualStartMs = Date.UTC(2026, 2, 15);

/**
 * Makes a clock that stands still until it is advanced.
 *
 * @param startMs milliseconds since 1970.
 * @example
 * const clock = virtualClock();
 * const { kernel } = createTestKernel({ clock });
 * const pending = kernel.dispatch('egress.preparing', samplePayload('egress.preparing'));
 * await clock.advance(15_000); // a handler that hangs times out here
 */
export function virtualClock(startMs: number = virtualStartMs): VirtualClock {
  const timers = new Map<TimerHandle, Timer>(); // in order of setting
  let elapsedMs = 0;

  const next = (untilMs: number): readonly [TimerHandle, Timer] | undefined => {
    let first: readonly [TimerHandle, Timer] | undefined;
    for (const entry of timers)
      if (entry[1].dueMs <= untilMs && (first === undefined || entry[1].dueMs < first[1].dueMs))
        first = entry;
    return first;
  };

  return {
    now: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    setTimeout(callback, delayMs) {
      const handle: TimerHandle = { ref: () => handle, unref: () => handle };
      // at least 1 ms, as the platform's: a timer that sets itself anew lets time pass
      timers.set(handle, { dueMs: elapsedMs + Math.max(1, delayMs || 0), callback });
      return handle;
    },
    clearTimeout(handle) {
      timers.delete(handle);
    },
    get pending() {
      return timers.size;
    },
    get nextMs() {
      const due = next(Number.POSITIVE_INFINITY)?.[1].dueMs;
      return due === undefined ? undefined : due - elapsedMs;
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance takes milliseconds from 0 up, not ${ms}`);
      const untilMs = elapsedMs + ms;
      await turn(); // runs every microtask there is, and those that they make
      for (let due = next(untilMs); due !== undefined; due = next(untilMs)) {
        const [handle, { dueMs, callback }] = due;
        timers.delete(handle);
        elapsedMs = dueMs;
        callback();
        await turn();
      }
      elapsedMs = untilMs;
    },
  };
}
