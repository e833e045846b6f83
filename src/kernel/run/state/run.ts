import type { Notes } from '../../merge/notes.js';
import type { Work } from '../../merge/work.js';
import type { Entry } from '../../outcome/entry.js';
import type { Envelope, Upstream } from '../../outcome/envelope.js';
import type {
  Author,
  CancelRecord,
  Candidate,
  Failure,
  Outcome,
  SkipReason,
  Step,
} from '../../outcome/outcome.js';
import type { Principal } from '../../outcome/principal.js';
import type { ApprovalQuestion } from '../../outcome/question.js';
import { type CallContext, type CallSource, contextOf, HandlerCall } from '../services/call.js';
import type { Moment, Waiting } from '../services/deadlines.js';
import type { Plan } from '../services/plan.js';
import type { Services, StageMerges } from '../services/services.js';
import { downstreamOf, type Emission, envelopeOf } from './envelope-of.js';
import { type OwnOrigin, own } from './origin.js';
import type { Terms } from './terms.js';

/** The wait of a dispatch, as the kernel sees it. */
export interface RunWait extends Waiting {
  /** When the handlers that it waits for were called; absent while it does not wait. */
  readonly began: Moment | undefined;
  readonly run: Run;
  /** The dispatch is aborted: it ends the wait. */
  abort(): void;
  /** The handlers that have not settled. */
  waitsFor(): readonly Entry[];
}

/** A frozen object without keys, for what is empty. */
export const nothing: object = Object.freeze({});

const noContext = Object.freeze(contextOf(nothing, undefined, 'first'));

/** The fields that few dispatches have: made when the first of them is written. */
export class Cold {
  rechecking = false;
  /** Handlers that judged again. */
  rechecked = 0;
  beganMs = 0;
  /** Written if the kernel traces. */
  steps: Step[] | undefined = undefined;
  stopped: SkipReason | undefined = undefined;
  cancel: CancelRecord | undefined = undefined;
  /** The author of the candidate that won, each time that another did. */
  choosers: Entry[] | undefined = undefined;
  candidates: Candidate[] | undefined = undefined;
  failures: Failure[] | undefined = undefined;
  stale: Entry[] | undefined = undefined;
  /** The questions of vetoes, which the last judgement of each stands for. */
  questions: Map<Entry, ApprovalQuestion> | undefined = undefined;
  /** The questions before vetoes judged again. */
  earlier: ReadonlyMap<Entry, ApprovalQuestion> | undefined = undefined;
  notes: Notes | undefined = undefined;
}

/**
 * One dispatch while it runs, and what its outcome is read from afterwards. Plain fields: it never leaves the
 * kernel.
 */
export class Run implements CallSource, Emission {
  readonly plan: Plan;
  readonly emitted: object;
  readonly given: OwnOrigin | undefined;
  upstream: Upstream | undefined;
  eventId: string | undefined = undefined;
  readonly occurredAt: number;
  /** The time in the id: never before that of an earlier dispatch. */
  readonly stampMs: number;
  readonly sequence: number;
  readonly depth: number;
  readonly terms: Terms;

  /** The annotations and the selection, as calls hold them. */
  context: CallContext;
  /** The call for the next handler, if one before it has left it. */
  call: HandlerCall | undefined = undefined;
  /** The patched payload; absent until a patch is accepted. */
  work: Work | undefined = undefined;
  status: Outcome['status'] = 'passed';
  ended = false;
  /** Handlers of the plan that were reached; the rest was skipped, and why. */
  reached: number;
  /** Index of the last handler in the plan that changed the payload or the selection. */
  lastChangeAt = -1;
  /** Its waits, if it has waited and has not ended: the kernel's deadlines hold it. */
  wait: RunWait | undefined = undefined;
  /** Resolves the promise that dispatch returned, where the stage had to wait. */
  resolve: ((outcome: Outcome) => void) | undefined = undefined;
  outcome: Outcome | undefined = undefined;
  #event: Envelope | undefined = undefined;
  #cold: Cold | undefined = undefined;

  constructor(
    plan: Plan,
    payload: object,
    given: OwnOrigin | undefined,
    upstream: Upstream | undefined,
    annotations: object,
    terms: Terms,
    occurredAt: number,
    stampMs: number,
    sequence: number,
    depth: number,
  ) {
    this.plan = terms.settled ? (plan.settled ?? plan) : plan;
    this.emitted = payload;
    this.given = given;
    this.upstream = upstream;
    this.occurredAt = occurredAt;
    this.stampMs = stampMs;
    this.sequence = sequence;
    this.depth = depth;
    this.terms = terms;
    if (plan.services.trace) this.cold.steps = [];
    this.context = annotations === nothing ? noContext : contextOf(annotations, undefined, 'first');
    this.reached = this.plan.size;
  }

  get services(): Services {
    return this.plan.services;
  }

  /** The envelope, made when somebody first reads it. */
  get event(): Envelope {
    return (this.#event ??= envelopeOf(this));
  }

  get principal(): Principal | undefined {
    if (!this.plan.stage.principal) return undefined;
    return own(this.given?.principal, this.upstream?.principal) ?? undefined;
  }

  /** The data that goes on to the dispatch after it. */
  get downstream(): Upstream {
    return downstreamOf(this);
  }

  get family(): string {
    return this.plan.stage.family;
  }

  payloadFor(call: object): object {
    if (this.work === undefined) return this.emitted;
    return this.ended ? this.work.final : this.work.shownTo(call);
  }

  /** Returns whether the handler that has returned left the payload alone. */
  get isIntact(): boolean {
    const { work } = this;
    if (work === undefined || work.isShared) return true;
    this.call = undefined;
    return work.isIntact;
  }

  get annotations(): object {
    return this.context.annotations;
  }

  get selection(): Candidate | undefined {
    return this.context.selection as Candidate | undefined; // nothing else is selected
  }

  /** Gives the handlers from here on other annotations, or another selection. */
  renew(annotations: object, selection: Candidate | undefined): void {
    this.context = contextOf(annotations, selection, this.rechecking ? 'recheck' : 'first');
    this.call = undefined;
  }

  /** Leaves what a handler has read to it. */
  forget(): void {
    if (this.work === undefined || this.work.isShared) return;
    this.call = undefined;
    this.work.forget();
  }

  get merges(): StageMerges {
    return this.services.merges(this.family);
  }

  get cold(): Cold {
    return (this.#cold ??= new Cold());
  }

  get rechecking(): boolean {
    return this.#cold?.rechecking === true;
  }

  get rechecked(): number {
    return this.#cold?.rechecked ?? 0;
  }

  get beganMs(): number {
    return this.cold.beganMs;
  }

  set beganMs(ms: number) {
    this.cold.beganMs = ms;
  }

  get stopped(): SkipReason | undefined {
    return this.#cold?.stopped;
  }

  set stopped(why: SkipReason | undefined) {
    this.cold.stopped = why;
  }

  get cancel(): CancelRecord | undefined {
    return this.#cold?.cancel;
  }

  get steps(): Step[] | undefined {
    return this.#cold?.steps;
  }

  get failures(): Failure[] | undefined {
    return this.#cold?.failures;
  }

  get candidates(): Candidate[] | undefined {
    return this.#cold?.candidates;
  }

  get questions(): ReadonlyMap<Entry, ApprovalQuestion> | undefined {
    return this.#cold?.questions;
  }

  /** The questions before vetoes judge again: in this dispatch, or in the one that an answered pass follows. */
  get earlier(): ReadonlyMap<Entry, ApprovalQuestion> | undefined {
    return this.#cold?.earlier ?? this.terms.answered?.open;
  }

  get stale(): Entry[] | undefined {
    return this.#cold?.stale;
  }

  /** A call for the handlers from here on. */
  newCall(): HandlerCall {
    const call = new HandlerCall(this, this.context);
    if (this.services.strict) Object.freeze(call);
    if (this.work !== undefined) this.work.reader = call;
    this.call = call;
    return call;
  }

  give(call: object): void {
    if (this.call === call) this.call = undefined;
  }

  nest(author: Author, family: string, payload: object): Outcome | Promise<Outcome> {
    return this.services.nest(this, author, family, payload);
  }
}
