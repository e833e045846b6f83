import { kernelError } from '../../errors.js';
import type { Copy } from '../../merge/copy.js';
import type { FieldState } from '../../merge/laws.js';
import type { MergeTarget } from '../../merge/merge.js';
import type { Entry } from '../../outcome/entry.js';
import type { Envelope } from '../../outcome/envelope.js';
import type { Given } from '../../outcome/given.js';
import type {
  Author,
  CancelRecord,
  Candidate,
  Failure,
  Outcome,
  SkipReason,
  Step,
} from '../../outcome/outcome.js';
import { type CallContext, type CallSource, HandlerCall } from '../services/call.js';
import type { Waiting } from '../services/deadlines.js';
import type { Plan } from '../services/plan.js';
import type { Services, StageMerges } from '../services/services.js';
import { envelopeOf } from './envelope-of.js';
import { type Origin, originOf } from './origin.js';

/** What ends a wait from outside. */
export interface Cuts {
  /** The deadline is reached. It ends the wait, or sets a later `run.deadlineMs`. */
  deadline(nowMs: number): void;
  /** The caller's signal was aborted. It ends the wait. */
  abort(): void;
  /** The handlers that have not settled. */
  waitsFor(): readonly Entry[];
}

/** The handler that a dispatch was made from: its event, how deep, and `extension/contribution`. */
export interface Nested {
  readonly event: Envelope;
  readonly depth: number;
  readonly by: string;
}

/** A payload as one patch left it, and whose patch that was. */
export interface Version {
  readonly entry: Entry;
  readonly payload: object;
}

/** A write that came second to a first-defined field; `at` is how many versions there were. */
export interface Overruled {
  readonly entry: Entry;
  readonly path: string;
  readonly at: number;
}

/** A frozen object without keys, for what is empty. */
export const nothing: object = Object.freeze({});

const noContext: CallContext = Object.freeze({ annotations: nothing, selection: undefined });

const none: readonly Entry[] = Object.freeze([]);

/**
 * One dispatch while it runs, and what its outcome is read from afterwards. Plain fields: it never leaves the
 * kernel.
 */
export class Run implements CallSource, Waiting {
  readonly services: Services;
  readonly plan: Plan;
  readonly origin: Origin;
  /** The host's predicate over candidates. */
  readonly valid: Given['valid'] | undefined;
  readonly depth: number;
  readonly occurredAt: number;
  /** The time in the id: never before that of an earlier dispatch. */
  readonly stampMs: number;
  readonly sequence: number;
  readonly emitted: object;
  /** Aborts the dispatch from outside. */
  readonly signal: AbortSignal | undefined;
  readonly observeOnly: boolean;
  readonly steps: Step[] | undefined;
  /** The payload names its target: the resolvers of `passedOver` are not called. */
  readonly settled: boolean;
  readonly passedOver: readonly Entry[];

  payload: object;
  annotations: object;
  selection: Candidate | undefined = undefined;
  /** The annotations and the selection, as calls hold them. */
  context: CallContext = noContext;
  call: HandlerCall;
  status: Outcome['status'] = 'passed';
  ended = false;
  rechecking = false;
  /** Handlers of the plan that were reached; the rest was skipped, and why. */
  reached: number;
  /** Handlers that judged again. */
  rechecked = 0;
  stopped: SkipReason | undefined = undefined;
  cancel: CancelRecord | undefined = undefined;
  /** Index of the last handler in the plan that changed the payload or the selection. */
  lastChangeAt = -1;
  /** Whose candidate won, each time that another did. */
  choosers: Entry[] | undefined = undefined;
  /** What the patches left, in pairs of an entry and a payload: read it through `versionsOf`. */
  versions: (Entry | object)[] | undefined = undefined;
  overruled: Overruled[] | undefined = undefined;
  candidates: Candidate[] | undefined = undefined;
  failures: Failure[] | undefined = undefined;
  stale: Entry[] | undefined = undefined;
  patches: MergeSlot | undefined = undefined;
  notes: MergeSlot | undefined = undefined;

  /** Resolves the promise that dispatch returned, where the stage had to wait. */
  resolve: ((outcome: Outcome) => void) | undefined = undefined;
  outcome: Outcome | undefined = undefined;
  #event: Envelope | undefined = undefined;
  #merges: StageMerges | undefined = undefined;

  /** What a sequential plan waits for, where it stands in the plan, and when its handler was called. */
  pending: PromiseLike<unknown> | undefined = undefined;
  pendingAt = -1;
  pendingBeganMs = 0;

  // waiting, for Deadlines
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  deadlineMs = Number.POSITIVE_INFINITY;
  stageDeadlineMs = Number.POSITIVE_INFINITY;
  /** It has waited, and has not ended: the kernel's deadlines hold it. */
  isOpen = false;
  /** What ends the wait from outside: a deadline, the caller, or the kernel's close. */
  cuts: Cuts | undefined = undefined;
  onAbort: (() => void) | undefined = undefined;

  constructor(
    services: Services,
    plan: Plan,
    payload: object,
    given: Given | undefined,
    occurredAt: number,
    stampMs: number,
    sequence: number,
    nested: Nested | undefined,
  ) {
    this.services = services;
    this.settled = isSettled(plan, payload);
    this.passedOver = this.settled ? plan.entries : none;
    this.plan = this.settled ? (plan.settled ?? plan) : plan;
    const upstream = given?.after?.event ?? nested?.event;
    this.origin = originOf(given, upstream, nested?.by ?? null);
    this.valid = given?.valid;
    this.depth = nested?.depth ?? 0;
    this.occurredAt = occurredAt;
    this.stampMs = stampMs;
    this.sequence = sequence;
    this.emitted = payload;
    this.payload = payload;
    this.signal = given?.signal;
    this.observeOnly = given?.gate === 'observe-only';
    this.annotations = given?.after?.annotations ?? nothing;
    this.reached = this.plan.size;
    this.steps = services.trace ? [] : undefined;
    if (this.annotations !== nothing)
      this.context = { annotations: this.annotations, selection: undefined };
    this.call = new HandlerCall(this, payload, this.context);
    if (services.strict) Object.freeze(this.call);
  }

  /** The envelope, made when somebody first reads it. */
  get event(): Envelope {
    return (this.#event ??= envelopeOf(this));
  }

  get family(): string {
    return this.plan.stage.family;
  }

  get merges(): StageMerges {
    return (this.#merges ??= this.services.merges(this.family));
  }

  /** Gives the handlers from here on other annotations, or another selection. */
  renewContext(): void {
    this.context = { annotations: this.annotations, selection: this.selection };
    this.renewCall();
  }

  /** Gives the handlers from here on what has changed. */
  renewCall(): void {
    this.call = new HandlerCall(this, this.payload, this.context);
    if (this.services.strict) Object.freeze(this.call);
  }

  nest(author: Author, family: string, payload: object): Outcome | Promise<Outcome> {
    return this.services.nest(this, author, family, payload);
  }

  expire(nowMs: number): void {
    this.cuts?.deadline(nowMs);
  }
}

/** The payload or the annotations of a run, as a merge writes them. Made at the first write. */
export class MergeSlot implements MergeTarget {
  readonly #run: Run;
  value: object;
  copy: Copy | undefined = undefined;
  states: Map<string, FieldState> | undefined = undefined;
  /** Whose writes are being merged. */
  entry: Entry;

  constructor(run: Run, value: object, entry: Entry) {
    this.#run = run;
    this.value = value;
    this.entry = entry;
  }

  granted(field: string): boolean {
    return this.entry.grants.includes(field);
  }

  overruled(path: string): void {
    const at = (this.#run.versions?.length ?? 0) / 2;
    (this.#run.overruled ??= []).push({ entry: this.entry, path, at });
  }
}

/** The payload after each patch, and whose patch it was. */
export function versionsOf(run: Run): Version[] {
  const flat = run.versions ?? [];
  const versions: Version[] = [];
  for (let i = 0; i < flat.length; i += 2)
    versions.push({ entry: flat[i] as Entry, payload: flat[i + 1] as object }); // pushed in pairs
  return versions;
}

/** Whether a payload names its target, by the row's own predicate. */
function isSettled({ stage }: Plan, payload: object): boolean {
  if (stage.settled === undefined) return false;
  try {
    return stage.settled(payload as never) === true; // of its own family
  } catch (thrown) {
    const problem = 'it does not even let the stage see whether it names its target';
    const details = { family: stage.family, path: '/', problem };
    throw kernelError('bad-payload', details, { cause: thrown });
  }
}
