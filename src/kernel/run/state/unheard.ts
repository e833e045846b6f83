import type { Upstream } from '../../outcome/envelope.js';
import type { Given } from '../../outcome/given.js';
import type { Outcome } from '../../outcome/outcome.js';
import type { Stage } from '../../stage/stage.js';
import type { StopSignal } from '../../stage/waits.js';
import type { Plan } from '../services/plan.js';
import type { Services } from '../services/services.js';
import { Dispatched, inspect, runOf } from './dispatched.js';
import { inherited, type OwnOrigin, ownOrigin } from './origin.js';
import { nothing, Run } from './run.js';
import { usualTerms } from './terms.js';

/**
 * Returns whether a value is an outcome that this copy of the kernel made: nothing else passes, however alike it looks.
 *
 * @example
 * if (isOutcome(value) && value.status === 'passed') approve(value);
 */
export function isOutcome(value: unknown): value is Outcome {
  return (
    typeof value === 'object' && value !== null && (servicesOf(value) ?? runOf(value)) !== undefined
  );
}

/**
 * Returns whether an outcome is of a dispatch that somebody who holds a kernel began: not one of another kernel, nor one that a
 * handler made with `own.dispatch` (spec §14.1).
 *
 * @param kernel the kernel that began it; any kernel by default.
 */
export function isBegunBy(outcome: Outcome, kernel?: object): boolean {
  const run = runOf(outcome);
  if (run !== undefined && run.depth > 0) return false;
  const services = servicesOf(outcome) ?? run?.services;
  return services !== undefined && (kernel === undefined || services.surface === kernel);
}

/** Finds the data that goes on from an outcome to the dispatch after it. An outcome from elsewhere proves no principal. */
export function upstreamOf(outcome: Outcome): Upstream {
  return followed(outcome) ?? runOf(outcome)?.downstream ?? { ...outcome.event, principal: null };
}

/**
 * Returns whether a dispatch that no handler hears can only pass, and nothing but its origin has to be kept: data that it is given
 * is checked, and an aborted one fails.
 */
export function passesUnheard({ selection, onError }: Stage, given: Given | undefined): boolean {
  if (selection !== undefined && onError.resolver === 'closed') return false; // §9.4
  if (given === undefined) return true;
  const { after, answered, band, occurredAt, signal } = given;
  return (
    band === undefined &&
    answered === undefined &&
    occurredAt === undefined &&
    signal?.aborted !== true &&
    (after === undefined || after.annotations === nothing)
  );
}

/**
 * Returns whether a dispatch can only pass, and nobody hears it now: no handler and no tap. Such a dispatch is counted, and need not
 * be made.
 *
 * @param after the outcome that it would follow.
 */
export function passesUnmade(
  kernel: object,
  after: Outcome | undefined,
  family: string,
  signal: StopSignal | undefined,
): boolean {
  const services = after && (servicesOf(after) ?? runOf(after)?.services);
  if (services?.surface !== kernel || signal?.aborted === true) return false;
  const plan = services.planUnwatched(family);
  if (plan === undefined || plan.size > 0 || !passesUnheard(plan.stage, undefined)) return false;
  services.counters.dispatches++;
  services.counters.passed++;
  return true;
}

let servicesOf: (value: object) => Services | undefined;
let followed: (value: object) => Upstream | undefined;
/** Makes the outcome as a dispatch with handlers has it. A private accessor in its place would cost each object a word. */
let wholeOf: (value: Unheard) => Dispatched;

/**
 * The outcome of a dispatch that no handler heard. It is the dispatch as well: what somebody reads of it is made then, and
 * it stands for nothing else (spec §1.5).
 */
export class Unheard {
  declare readonly event: Dispatched['event'];
  declare readonly principal: Dispatched['principal'];
  declare readonly candidates: Dispatched['candidates'];
  declare readonly changes: Dispatched['changes'];
  declare readonly staleApprovals: Dispatched['staleApprovals'];
  declare readonly skipped: Dispatched['skipped'];
  declare readonly failures: Dispatched['failures'];
  declare readonly steps: Dispatched['steps'];
  readonly #plan: Plan;
  readonly #payload: object;
  readonly #given: OwnOrigin | undefined;
  /** The data from the dispatch before, until the outcome is made whole. */
  #behind: Upstream | Dispatched | undefined;
  /** When it occurred, which is the time in its id as well. */
  readonly #stampMs: number;
  readonly #sequence: number;

  constructor(
    plan: Plan,
    payload: object,
    given: Given | undefined,
    stampMs: number,
    sequence: number,
  ) {
    this.#plan = plan;
    this.#payload = payload;
    this.#given = given === undefined ? undefined : ownOrigin(given);
    this.#behind =
      given?.after === undefined ? undefined : inherited(given, upstreamOf(given.after));
    this.#stampMs = stampMs;
    this.#sequence = sequence;
  }

  get status(): 'passed' {
    return 'passed';
  }

  get payload(): object {
    return this.#payload;
  }

  get annotations(): Dispatched['annotations'] {
    return nothing;
  }

  get cancel(): Dispatched['cancel'] {
    return undefined;
  }

  get selection(): Dispatched['selection'] {
    return undefined;
  }

  toJSON(): Record<string, unknown> {
    return wholeOf(this).toJSON();
  }

  get [Symbol.toStringTag](): 'Outcome' {
    return 'Outcome';
  }

  [inspect](): Record<string, unknown> {
    return this.toJSON();
  }

  static {
    wholeOf = (value) => {
      const behind = value.#behind;
      if (behind instanceof Dispatched) return behind;
      const run = new Run(
        value.#plan,
        value.#payload,
        value.#given,
        behind,
        nothing,
        usualTerms,
        value.#stampMs,
        value.#stampMs,
        value.#sequence,
        0,
      );
      run.ended = true;
      const whole = new Dispatched(run);
      value.#behind = whole;
      return whole;
    };
    servicesOf = (value) => (#plan in value ? value.#plan.services : undefined);
    followed = (value) => {
      if (!(#plan in value)) return undefined;
      const behind = value.#behind;
      if (value.#given === undefined && behind !== undefined && !(behind instanceof Dispatched))
        return behind;
      return runOf(wholeOf(value))?.downstream;
    };
    // the other properties of an outcome are made when they are read
    for (const name of Object.getOwnPropertyNames(Dispatched.prototype) as (keyof Dispatched)[]) // it has these names
      if (!(name in Unheard.prototype))
        Object.defineProperty(Unheard.prototype, name, {
          get(this: Unheard) {
            return wholeOf(this)[name];
          },
        });
    Object.freeze(Unheard.prototype); // nobody can change what others read from an outcome
  }
}
