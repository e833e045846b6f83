import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  type IHalfOpenAfterBackoffContext,
} from 'cockatiel';
import type { Clock } from '../../kernel/index.js';

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
export class Circuit {
  readonly #policy: CircuitBreakerPolicy;
  readonly #clock: Clock;
  #openedAtMs = 0;

  constructor({ threshold = 3, cooldownMs = 30_000 }: CircuitOptions, clock: Clock) {
    this.#clock = clock;
    // cockatiel reads the platform's clock; what it compares it with is read each time, and knows ours
    const isCool = (): boolean => clock.monotonicMs() - this.#openedAtMs >= cooldownMs;
    const cooling = {
      get duration() {
        return isCool() ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      },
      next: (_context: IHalfOpenAfterBackoffContext) => cooling,
    };
    this.#policy = circuitBreaker(
      handleWhenResult((result) => result === 'failure'),
      { breaker: new ConsecutiveBreaker(threshold), halfOpenAfter: cooling },
    );
    this.#policy.onBreak(() => {
      this.#openedAtMs = this.#clock.monotonicMs();
    });
  }

  /** `closed`: messages go through. `open`: none does. `trial`: one is tried. */
  get state(): 'closed' | 'open' | 'trial' {
    if (this.#policy.state === CircuitState.HalfOpen) return 'trial';
    return this.#policy.state === CircuitState.Open ? 'open' : 'closed';
  }

  /** Begins an attempt. @returns nothing if none may go through now. */
  enter(): EndAttempt | undefined {
    if (this.state === 'trial') return undefined; // one at a time; nobody queues behind it
    let settle: (outcome: AttemptOutcome) => void = () => undefined;
    let hasBegun = false;
    const attempt = this.#policy.execute(() => {
      hasBegun = true;
      return new Promise<AttemptOutcome>((resolve, reject) => {
        const isTrial = this.state !== 'closed';
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
  }
}
