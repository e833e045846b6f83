import { type Clock, Timer } from 'sluice-kernel/internal';

/**
 * The pauses of a turn: while it waits for a person, its time does not run. Several may overlap.
 *
 * @example
 * const pauses = new TurnPauses();
 * void runAgentTurn({ ...options, timeoutMs: 60_000, pauses });
 * { using _ = pauses.pause(); await answerOfPerson; }
 */
export class TurnPauses {
  #open = 0;
  #onChange: (() => void) | undefined;

  get isPaused(): boolean {
    return this.#open > 0;
  }

  /** Stops the time, until what is returned is disposed. */
  pause(): Disposable {
    if (this.#open++ === 0) this.#onChange?.();
    return {
      [Symbol.dispose]: () => {
        if (--this.#open === 0) this.#onChange?.();
      },
    };
  }

  /** Calls a function when a time without pauses is over; never if it is undefined. Disposing it takes the timer back. */
  limit(clock: Clock, timeoutMs: number | undefined, over: () => void): Disposable {
    const timer = new Timer(clock);
    if (timeoutMs === undefined) return timer;
    let leftMs = timeoutMs;
    let sinceMs = clock.monotonicMs();
    const change = (): void => {
      if (this.isPaused) {
        leftMs -= clock.monotonicMs() - sinceMs;
        timer.clear();
      } else {
        sinceMs = clock.monotonicMs();
        timer.set(Math.max(0, leftMs), over);
      }
    };
    this.#onChange = change; // named first: V8 makes a function that is assigned at once in the old generation
    if (!this.isPaused) timer.set(timeoutMs, over);
    return {
      [Symbol.dispose]: () => {
        this.#onChange = undefined;
        timer.clear();
      },
    };
  }
}
