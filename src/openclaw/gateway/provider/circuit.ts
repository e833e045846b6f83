import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  type IHalfOpenAfterBackoffContext,
} from 'cockatiel';
import type { Clock } from 'sluice-kernel';

/** When a circuit opens, and for how long. */
export interface CircuitOptions {
  /** Failures in a row that open it; 3 by default. */
  readonly threshold?: number;
  /** Milliseconds before one trial; 30,000 by default. */
  readonly cooldownMs?: number;
}

/** How an attempt went. `unknown`: it was given up before anything was known. */
export type AttemptOutcome = 'success' | 'failure' | 'unknown';

/** Ends an attempt, once: later calls do nothing. Resolves when the circuit knows. */
export type EndAttempt = (outcome: AttemptOutcome) => Promise<void>;

/**
 * Keeps messages from a gateway that fails: after some failures in a row none goes through for a while, then one, as a
 * trial. If that goes well all do; if not, the wait begins anew (stream §5). A trial that is given up counts as failed.
 */
export function circuit({ threshold = 3, cooldownMs = 30_000 }: CircuitOptions, clock: Clock) {
  let openedAtMs = 0;
  // cockatiel reads the platform's clock; what it compares it with is read each time, and knows ours
  const isCool = (): boolean => clock.monotonicMs() - openedAtMs >= cooldownMs;
  const cooling = {
    get duration() {
      return isCool() ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    },
    next: (_context: IHalfOpenAfterBackoffContext) => cooling,
  };
  const policy = circuitBreaker(
    handleWhenResult((result) => result === 'failure'),
    { breaker: new ConsecutiveBreaker(threshold), halfOpenAfter: cooling },
  );
  policy.onBreak(() => {
    openedAtMs = clock.monotonicMs();
  });

  /** `closed`: messages go through. `open`: none does. `trial`: one is tried. */
  function state(): 'closed' | 'open' | 'trial' {
    if (policy.state === CircuitState.HalfOpen) return 'trial';
    return policy.state === CircuitState.Open ? 'open' : 'closed';
  }

  return {
    state,

    /** Begins an attempt. @returns nothing if none may go through now. */
    enter(): EndAttempt | undefined {
      if (state() === 'trial') return undefined; // one at a time; nobody queues behind it
      let settle: (outcome: AttemptOutcome) => void = () => undefined;
      let hasBegun = false;
      const attempt = policy.execute(() => {
        hasBegun = true;
        return new Promise<AttemptOutcome>((resolve, reject) => {
          const isTrial = state() !== 'closed';
          settle = (outcome) => {
            if (outcome !== 'unknown') resolve(outcome);
            else if (isTrial) resolve('failure');
            else reject(new Error('given up')); // counts as nothing
          };
        });
      });
      const told = attempt.then(
        () => undefined,
        () => undefined,
      );
      if (!hasBegun) return undefined;
      return (outcome) => {
        settle(outcome);
        return told;
      };
    },
  };
}

/** The parts of `circuit` that others use. */
export type Circuit = ReturnType<typeof circuit>;
