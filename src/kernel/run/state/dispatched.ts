import { authorOf, type Entry } from '../../outcome/entry.js';
import type { Envelope } from '../../outcome/envelope.js';
import type {
  AnsweredAsker,
  CancelRecord,
  Candidate,
  Change,
  Failure,
  Outcome,
  Selection,
  Skipped,
  SkipReason,
  StaleApproval,
  Step,
} from '../../outcome/outcome.js';
import type { Principal } from '../../outcome/principal.js';
import { definedFields } from '../../value/defined-fields.js';
import { changesOf } from './changes.js';
import { staleApprovals } from './recheck.js';
import type { Run } from './run.js';

const none: readonly never[] = Object.freeze([]);

const isResolver = (entry: Entry): boolean => entry.class === 'resolver';

/** The method by which Node and other runtimes print a value. */
export const inspect = Symbol.for('nodejs.util.inspect.custom');

/** The run of an outcome, if it is of this class. */
export let runOf: (outcome: object) => Run | undefined;

/**
 * The outcome of a run, read from it when asked: a dispatch that nobody looks at computes nothing. The class
 * serves all three members of the union.
 */
export class Dispatched {
  readonly #run: Run;
  #changes: readonly Change[] | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  get status(): Outcome['status'] {
    return this.#run.status;
  }

  get event(): Envelope {
    return this.#run.event;
  }

  get principal(): Principal | undefined {
    return this.#run.principal;
  }

  get payload(): object {
    return this.#run.work?.final ?? this.#run.emitted;
  }

  get annotations(): object {
    return this.#run.annotations;
  }

  get cancel(): CancelRecord | undefined {
    return this.#run.cancel;
  }

  get selection(): Selection | undefined {
    return this.#run.selection;
  }

  get candidates(): readonly Candidate[] {
    return this.#run.candidates ?? none;
  }

  get changes(): readonly Change[] {
    return (this.#changes ??=
      this.#run.work === undefined ? none : Object.freeze(changesOf(this.#run)));
  }

  get staleApprovals(): readonly StaleApproval[] {
    return this.#run.stale === undefined ? none : staleApprovals(this.#run);
  }

  get skipped(): readonly Skipped[] {
    const { plan, reached, stopped, terms, steps } = this.#run;
    const all = (entries: readonly Entry[], why: SkipReason): Skipped[] =>
      entries.map((entry) => ({ ...authorOf(entry), why }));
    return [
      ...(stopped === undefined ? none : all(plan.entries.slice(reached), stopped)),
      ...all(terms.passedOver.filter(isResolver), 'explicit-target'),
      ...all(terms.answered?.passedOver ?? none, 'answered'),
      ...all(plan.otherBand, 'other-band'),
      ...plan.absent.flatMap((entry) => all([entry], entry.absent ?? 'disabled')),
      ...(steps === undefined ? none : all(plan.unmatched, 'no-match')),
    ];
  }

  get failures(): readonly Failure[] {
    return this.#run.failures ?? none;
  }

  get answered(): readonly AnsweredAsker[] | undefined {
    return this.#run.terms.answered?.by;
  }

  get steps(): readonly Step[] {
    return this.#run.steps ?? none;
  }

  toJSON(): Record<string, unknown> {
    return definedFields({
      status: this.status,
      event: this.event,
      principal: this.principal,
      payload: this.payload,
      annotations: this.annotations,
      cancel: this.cancel,
      answered: this.answered,
      selection: this.selection,
      candidates: this.candidates,
      changes: this.changes,
      staleApprovals: this.staleApprovals,
      skipped: this.skipped,
      failures: this.failures.map(({ error: _, ...rest }) => rest),
      steps: this.steps,
    });
  }

  get [Symbol.toStringTag](): 'Outcome' {
    return 'Outcome';
  }

  [inspect](): Record<string, unknown> {
    return this.toJSON();
  }

  static {
    runOf = (outcome) => (#run in outcome ? outcome.#run : undefined);
    Object.freeze(Dispatched.prototype); // nobody can change what others read from an outcome
  }
}
