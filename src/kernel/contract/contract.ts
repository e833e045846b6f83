import type { Contribution } from '../handler/handler.js';
import type {
  AsyncFamily,
  ClassOf,
  FamilyName,
  PayloadOf,
  SyncFamily,
} from '../outcome/families.js';
import type { Given } from '../outcome/given.js';
import type { Match } from '../outcome/matching.js';
import type { Author, Outcome } from '../outcome/outcome.js';
import type { QuarantinedHandler, QuarantineOptions } from '../run/services/quarantine.js';
import type { Counters, StillRunning, Tap } from '../run/services/services.js';
import type { CloseReport, RunningHandler } from '../run/state/running.js';
import type { Clock, IdSource, Logger } from '../stage/ports.js';
import type { Stage } from '../stage/stage.js';
import type { Band, FailPolicy, HandlerClass, HandlerMode } from '../stage/vocabulary.js';
import type { Override } from './contribution.js';
import type { Instrument } from './instrument.js';

/** The options of a kernel. Every field has a default. */
export interface KernelOptions {
  /** The rows of the catalog; by default `canonicalStages`. */
  readonly stages?: readonly Stage[];
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  /**
   * Per extension id, what it may: trusted fields as `family:field`, classes as `class:family`, where the class may be
   * `*` and the family `prefix.*` or `*`, kinds of provisions as `provide:kind`, families of the host that its handlers may
   * dispatch as `dispatch:family`, and acts as `send:channel`, `schedule`, `inject` and `tap`. An extension that is granted
   * a class, a kind, a channel to send to, `schedule` or `inject` is held to what it is granted.
   */
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  /** Every extension may only observe, but for what it is granted. */
  readonly leastPrivilege?: boolean;
  /** Leaves handlers alone that fail again and again. By default no handler is left alone. */
  readonly quarantine?: QuarantineOptions;
  /** Puts something around each handler when it is contributed, such as a timer. Without it nothing is paid. */
  readonly instrument?: Instrument;
  /** The operator's changes, by `extension/contribution`. */
  readonly overrides?: Readonly<Record<string, Override>>;
  /**
   * The ids of extensions that are audited as a whole (judgement §3.7): their handlers are called without effect, their
   * observers are left out, and whoever loads them holds their acts back.
   */
  readonly audit?: readonly string[];
  /** Listens to all that the kernel does; or several that do. */
  readonly tap?: Tap | readonly Tap[];
  /** Records every handler's step in the outcome. */
  readonly trace?: boolean;
  /** `always` checks every dispatched payload; `borders` (the default) only what goes through `parsePayload`. */
  readonly validate?: 'borders' | 'always';
  readonly limits?: Partial<KernelLimits>;
  /** `false` runs no generated code: the reference merges serve. Set so where a process forbids it, too. */
  readonly generateCode?: boolean;
}

/** Numbers that keep a mistake from becoming an incident. */
export interface KernelLimits {
  /** Handlers of one family from which on the log warns, once. */
  readonly warnAt: number;
  /** Handlers of one family from which on registering is refused. */
  readonly refuseAt: number;
  /** How deep `own.dispatch` may nest. */
  readonly depth: number;
}

/** One handler of a plan, as `plan()` and `stages()` show it. */
export interface PlannedHandler extends Author {
  readonly class: HandlerClass;
  readonly band: Band;
  readonly priority: number;
  readonly timeoutMs: number;
  readonly policy: FailPolicy;
  readonly detached: boolean;
  readonly recheck: boolean;
  /** It declared `preview: 'ok'`. */
  readonly previewOk: boolean;
  /** `audit`: it is called without effect. */
  readonly mode: HandlerMode;
  /** The conditions under which it is called; absent if it is called for each dispatch. */
  readonly match: Match | undefined;
  /** Those that the operator set beside them. */
  readonly operatorMatch: Match | undefined;
  readonly disabled: boolean;
  /** It is in quarantine, or on trial after it. */
  readonly quarantined: boolean;
}

/** A stage with the handlers it has now. */
export interface StageInfo {
  readonly stage: Stage;
  readonly handlers: readonly PlannedHandler[];
}

/** The counts of a kernel, and its present work. */
export interface KernelStats extends Readonly<Counters> {
  readonly contributions: number;
  /** Dispatches that wait for handlers. */
  readonly waiting: number;
  /** Handlers that were given up and have not settled. */
  readonly stillRunning: readonly Readonly<StillRunning>[];
  readonly quarantined: readonly QuarantinedHandler[];
}

/**
 * The pipeline: contributions in, dispatches through, outcomes out.
 *
 * @example
 * const kernel = createKernel();
 * kernel.contribute({
 *   family: 'egress.preparing', class: 'mutator', extensionId: 'acme', id: 'sign',
 *   handler: ({ payload }) => ({ content: `${payload.content}\n-- Acme` }),
 * });
 * const outcome = await kernel.dispatch('egress.preparing', payload);
 */
export interface Kernel {
  /**
   * Registers a handler. It takes part in dispatches that begin from now on, until it is disposed.
   *
   * @throws SluiceError `unknown-family`, `class-not-allowed`, `bad-contribution`, `bad-match`, `duplicate-contribution`,
   *   `async-handler`, `not-granted` or `too-many-handlers`.
   */
  contribute<F extends FamilyName, C extends ClassOf<F> & HandlerClass, X extends boolean = false>(
    contribution: Contribution<F, C, X>,
  ): Disposable;
  /**
   * Gives an extension more, for what it contributes from now on: for hosts that load extensions while they run.
   * Disposing takes it back from later contributions.
   *
   * @param grants as in `KernelOptions.grants`.
   * @throws SluiceError `bad-option`, naming the one that grants nothing.
   */
  grant(extensionId: string, grants: readonly string[]): Disposable;
  /**
   * Returns whether an extension may do a thing that a grant names (spec §12.5).
   *
   * @param grant as in `KernelOptions.grants`.
   * @example
   * kernel.may('reminder', 'send:pigeon');
   */
  may(extensionId: string, grant: string): boolean;
  /** Returns whether an extension is audited as a whole (judgement §3.7). */
  isAudited(extensionId: string): boolean;
  /**
   * Listens to every dispatch that ends from now on, beside the tap of the options, until it is disposed (spec §12.2).
   *
   * @param whose names the extension in the log if the tap throws.
   * @example
   * using listening = kernel.tap({ failure: ({ extensionId }, { family }) => count(extensionId, family) });
   */
  tap(tap: Tap, whose?: { readonly extensionId?: string }): Disposable;
  /** The handlers that were called and have not settled, but for detached observers. */
  running(): readonly RunningHandler[];
  /**
   * Waits until no handler of an extension runs, by default 5 000 ms.
   *
   * @returns those that run on when the time is up.
   */
  quiet(
    extensionId: string,
    options?: { readonly timeoutMs?: number },
  ): Promise<readonly RunningHandler[]>;
  /**
   * Lays a failure that came outside of any dispatch, such as a stray rejection, at the door of an extension, or of
   * one of its contributions: it is counted, and counts towards quarantine.
   *
   * @param why in one line.
   */
  blame(of: { readonly extensionId: string; readonly contributionId?: string }, why: string): void;
  /**
   * Dispatches an event of a parallel or sequential family. Expected failures are in the outcome.
   *
   * @throws SluiceError (as a rejection) `unknown-family`, `wrong-mode`, `unfreezable-payload`, `bad-payload`,
   *   `bad-given` or `kernel-closed`.
   */
  dispatch<F extends AsyncFamily>(
    family: F,
    payload: PayloadOf<F>,
    given?: Given<F>,
  ): Promise<Outcome<F>>;
  /** Dispatches an event of a sync-sequential family, in the caller's stack. Throws as `dispatch` rejects. */
  dispatchSync<F extends SyncFamily>(
    family: F,
    payload: PayloadOf<F>,
    given?: Given<F>,
  ): Outcome<F>;
  /** Returns whether a family has handlers: a caller on a hot path may skip making a payload. */
  has(family: FamilyName): boolean;
  /** The handlers of a family in run order, those that the operator disabled at the end. */
  plan(family: FamilyName): readonly PlannedHandler[];
  /** Every stage with its handlers, in the order of the catalog. */
  stages(): readonly StageInfo[];
  stats(): KernelStats;
  /**
   * Checks a payload from outside, and freezes it.
   *
   * @throws SluiceError `bad-payload` or `unfreezable-payload`, naming the path.
   */
  parsePayload<F extends FamilyName>(family: F, payload: unknown): PayloadOf<F>;
  /** Takes no more dispatches, waits for those in flight, and after `timeoutMs` (10 000) aborts them. */
  close(options?: { readonly timeoutMs?: number }): Promise<CloseReport>;
}
