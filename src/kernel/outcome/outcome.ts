import type { Annotations } from '../catalog/index.js';
import type { FailPolicy, HandlerClass } from '../stage/vocabulary.js';
import type { Author } from './author.js';
import type { Envelope } from './envelope.js';
import type {
  AnnotationsOf,
  CancelCodeOf,
  FamilyName,
  PayloadOf,
  SelectionOf,
} from './families.js';
import type { Principal } from './principal.js';
import type { ApprovalQuestion } from './question.js';

export type { Author } from './author.js';

/** How a handler, or the stage itself, failed. More kinds may come. */
export type FailureKind =
  | 'threw'
  | 'timed-out'
  | 'aborted'
  | 'async-in-sync'
  | 'bad-output'
  | 'wrote-payload'
  | 'untrusted'
  | 'observe-only'
  | 'quarantined'
  | 'not-run'
  | 'no-candidate'
  | 'too-deep';

/** A failure, and what it did: nothing (`open`), or it ended the stage (`closed`). */
export interface Failure extends Partial<Author> {
  readonly kind: FailureKind;
  /** The thrown value, or an error that says what was wrong. */
  readonly error: Error;
  /** The same in one line of bounded length, safe to print. */
  readonly message: string;
  readonly policy: FailPolicy;
}

/** One write of one field of the payload. Two writers of a path are a conflict. */
export interface Change extends Author {
  /** The field: `content`, or `metadata.color` for a key of a merged record. */
  readonly path: string;
  /** The write came second to a first-defined field, and was not used. */
  readonly overruled?: true;
}

/** A target that a resolver proposed. */
export interface Candidate<Target = unknown> extends Author {
  readonly target: Target;
  readonly explicit: boolean;
  readonly rank: number;
  /** Why the host does not take it. Absent on a valid candidate. */
  readonly invalid?: string;
}

/** The candidate that won. */
export type Selection<Target = unknown> = Omit<Candidate<Target>, 'invalid'>;

/** A cancel, and whose it is. */
export interface CancelRecord<Code extends string = string> extends Author {
  readonly code: Code;
  readonly text?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The text that the veto has for the sender of the message (spec §8.6). */
  readonly reply?: string;
  /** The first question that nobody has answered; with `approval-required` alone (judgement §4.3). */
  readonly question?: ApprovalQuestion;
}

/** A veto whose question a human has answered. */
export interface AnsweredAsker extends Author {
  /** The one who has allowed it, the time, and the scope, in words for people (judgement §4.27). */
  readonly how?: string;
}

/** A veto that declined to judge again, and who changed the payload after it had allowed it. */
export interface StaleApproval extends Author {
  readonly changedBy: readonly Author[];
}

/** Why a handler of the plan was not called. */
export type SkipReason =
  | 'after-cancel'
  | 'after-failure'
  | 'budget-spent'
  | 'aborted'
  | 'explicit-target'
  | 'answered'
  | 'other-band'
  | 'disabled'
  | 'quarantined'
  /** Told only where the kernel traces (judgement §2.6). */
  | 'no-match';

/** A handler that was not called, and why. */
export interface Skipped extends Author {
  readonly why: SkipReason;
}

/** The step of one handler, in run order; recorded with `createKernel({ trace: true })`. */
export interface Step extends Author {
  readonly class: HandlerClass;
  readonly result:
    | 'nothing'
    | 'patched'
    | 'annotated'
    | 'allowed'
    | 'asked'
    | 'cancelled'
    | 'proposed'
    | 'failed'
    | 'detached'
    | 'audited'
    | 'skipped';
  /** Milliseconds from its call until it settled; absent where it was not called or not awaited. */
  readonly durationMs?: number;
  /** Why it was skipped, or how it failed. */
  readonly why?: string;
  /** The time that it had, and who set that; absent where it is the stage's. */
  readonly budget?: { readonly timeoutMs: number; readonly from: 'handler' | 'operator' };
  /** It judged again what had changed after it allowed it. */
  readonly recheck?: true;
}

interface OutcomeBase<F extends FamilyName> {
  /** The envelope as emitted. */
  readonly event: Envelope<F>;
  /** On whose behalf, in families whose row says `principal`; absent where nothing is proven (judgement §1.3). */
  readonly principal?: Principal;
  /** The payload after every patch. */
  readonly payload: PayloadOf<F>;
  /** The merged annotations, those of earlier stages among them. */
  readonly annotations: Annotations &
    Readonly<Partial<AnnotationsOf<F>>> &
    Readonly<Record<string, unknown>>;
  /** The candidate that won; absent where nothing was selected. */
  readonly selection?: Selection<SelectionOf<F>>;
  /** Every candidate, in run order. */
  readonly candidates: readonly Candidate<SelectionOf<F>>[];
  /** The writes with their authors, in order. */
  readonly changes: readonly Change[];
  readonly staleApprovals: readonly StaleApproval[];
  readonly skipped: readonly Skipped[];
  readonly failures: readonly Failure[];
  /** The vetoes whose questions a human has answered, in an answered pass (judgement §4.5). */
  readonly answered?: readonly AnsweredAsker[];
  /** Each handler in run order; empty unless the kernel traces. */
  readonly steps: readonly Step[];
  /** The outcome as plain data, for a line of JSON. */
  toJSON(): Record<string, unknown>;
}

/** Every veto let it pass, and nothing failed closed. */
export interface Passed<F extends FamilyName = FamilyName> extends OutcomeBase<F> {
  readonly status: 'passed';
}

/** A veto cancelled it. */
export interface Cancelled<F extends FamilyName = FamilyName> extends OutcomeBase<F> {
  readonly status: 'cancelled';
  readonly cancel: CancelRecord<CancelCodeOf<F>>;
}

/** Something failed closed: the last entry of `failures` whose policy is `closed` says what. */
export interface Failed<F extends FamilyName = FamilyName> extends OutcomeBase<F> {
  readonly status: 'failed';
}

/**
 * The end of a dispatch: a union by `status` (spec §5).
 *
 * @example
 * const outcome = await kernel.dispatch('egress.preparing', payload);
 * if (outcome.status === 'cancelled') console.log(outcome.cancel.code, outcome.cancel.extensionId);
 */
export type Outcome<F extends FamilyName = FamilyName> = Passed<F> | Cancelled<F> | Failed<F>;

/** An outcome as plain data: an `Outcome` is one, and so is what a journal has kept of it. */
export interface OutcomeRecord
  extends Pick<Outcome, 'candidates' | 'changes' | 'staleApprovals' | 'skipped' | 'steps'> {
  readonly status: Outcome['status'];
  readonly event: Pick<Envelope, 'family'>;
  readonly principal?: Principal;
  readonly cancel?: CancelRecord;
  readonly answered?: readonly AnsweredAsker[];
  readonly selection?: Selection;
  readonly failures: readonly Omit<Failure, 'error'>[];
}
