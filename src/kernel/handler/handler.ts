import type { Annotations } from '../catalog/index.js';
import type { MatchOptions } from '../match/match-of.js';
import type { Envelope } from '../outcome/envelope.js';
import type {
  AnnotationsOf,
  AsksOf,
  AsyncFamily,
  CancelCodeOf,
  CancelRepliesOf,
  ClassOf,
  FamilyName,
  ModeOf,
  PatchOf,
  PayloadOf,
  PrincipalsOf,
  SelectionOf,
  SyncFamily,
} from '../outcome/families.js';
import type { Outcome } from '../outcome/outcome.js';
import type { Principal } from '../outcome/principal.js';
import type { Logger } from '../stage/ports.js';
import type { Gate, HandlerClass, HandlerMode } from '../stage/vocabulary.js';
import type { Ask } from './ask.js';
import type { Allow, Cancel, CancelWithReply, Select } from './decisions.js';

/**
 * The pass of a dispatch that a handler is called in. `first`: in its place in the run order. `recheck`: a veto judges again what
 * has changed after it allowed it. `answered`: a human has allowed what a veto asked about, and the vetoes judge the same payload once
 * more (judgement §4.5). More may come.
 */
export type CallPass = 'first' | 'recheck' | 'answered';

/**
 * The first argument of a handler. Read-only; the payload and everything in it is frozen, but for the fields
 * that the stage marks shared.
 */
export interface Call<F extends FamilyName = FamilyName> {
  /** The envelope as it was emitted. */
  readonly event: Envelope<F>;
  /** The payload after the patches of the handlers before this one. */
  readonly payload: PayloadOf<F>;
  /** The annotations so far: of earlier stages, and of the handlers before this one. */
  readonly annotations: Annotations &
    Readonly<Partial<AnnotationsOf<F>>> &
    Readonly<Record<string, unknown>>;
  /** The best candidate so far, in a stage with resolvers. */
  readonly selection: Select<SelectionOf<F>> | undefined;
  /**
   * On whose behalf, as a channel has proven it; absent where nothing is proven. Families whose row says `principal` have it
   * (judgement §1.3).
   */
  readonly principal: true extends PrincipalsOf<F> ? Principal | undefined : undefined;
  /** The pass that it is called in: a veto that counts does so in the `first`. */
  readonly pass: CallPass;
  /** `observe-only`: what the dispatch tells of has happened, or cannot be stopped. A cancel or patch has no effect (spec §11). */
  readonly gate: Gate;
  /** Aborted when this handler times out or its dispatch is aborted. Made when first read. */
  readonly signal: AbortSignal;
}

/** The second argument of a handler, which belongs to one contribution: made once, when it is registered. */
export interface Own {
  readonly extensionId: string;
  readonly contributionId: string;
  /** The host's logger, with the ids of this contribution. */
  readonly log: Logger;
  /**
   * Dispatches from inside a handler. Depth, correlation and source go along; deeper than 8 the outcome is
   * `failed` with a `too-deep` failure (spec §10).
   *
   * @throws SluiceError `call-inactive` once its stage has ended or its handler was given up, `foreign-call` for another's call.
   */
  readonly dispatch: OwnDispatch;
}

/** `own.dispatch`: a promise of the outcome, or the outcome itself for a sync-sequential family. */
interface OwnDispatch {
  <F extends SyncFamily>(call: Call, family: F, payload: PayloadOf<F>): Outcome<F>;
  <F extends AsyncFamily>(call: Call, family: F, payload: PayloadOf<F>): Promise<Outcome<F>>;
}

/** The result of a handler of a class, before "or nothing". */
interface ResultByClass<F extends FamilyName> {
  readonly observer: never;
  readonly augmenter: Partial<AnnotationsOf<F>>;
  readonly mutator: PatchOf<F>;
  readonly veto:
    | Cancel<CancelCodeOf<F>>
    | Allow
    | (CancelRepliesOf<F> extends true ? CancelWithReply<CancelCodeOf<F>> : never)
    | (AsksOf<F> extends true ? Ask : never);
  readonly resolver: Select<SelectionOf<F>> | readonly Select<SelectionOf<F>>[];
}

/** The result of a handler: its class's result or nothing; a promise of it where the stage allows one. */
export type HandlerResult<F extends FamilyName, C extends HandlerClass> =
  | ResultByClass<F>[C]
  | null
  | void
  // biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is one, too
  | (ModeOf<F> extends 'sync-sequential' ? never : Promise<ResultByClass<F>[C] | null | void>);

/**
 * A handler. On a sync-sequential stage an async one does not compile.
 *
 * @example
 * const shout: Handler<'egress.preparing', 'mutator'> = ({ payload }) => ({ content: payload.content.toUpperCase() });
 */
export type Handler<F extends FamilyName, C extends HandlerClass> = (
  call: Call<F>,
  own: Own,
) => HandlerResult<F, C>;

/**
 * The handler of a contribution. A veto whose `failClosed` is `true`, or known at run time alone, decides: nothing is no decision
 * (spec §8.4).
 *
 * @example
 * const night: HandlerOf<'egress.preparing', 'veto', true> = ({ event }) =>
 *   isNight(event.occurredAt) ? cancel('quiet-hours') : allow();
 */
export type HandlerOf<F extends FamilyName, C extends HandlerClass, X> = true extends X
  ? C extends 'veto'
    ? (
        call: Call<F>,
        own: Own,
      ) =>
        | ResultByClass<F>['veto']
        | (ModeOf<F> extends 'sync-sequential' ? never : Promise<ResultByClass<F>['veto']>)
    : Handler<F, C>
  : Handler<F, C>;

/** Options that a contribution may carry, whatever its class. */
export interface ContributionOptions {
  /** Higher runs first; by default 0. */
  readonly priority?: number;
  /** Milliseconds this handler may take. It extends the stage's budget by as much (spec §10). */
  readonly timeoutMs?: number;
}

/** The options of any class but observers. */
interface JudgingOptions extends ContributionOptions {
  /** `audit` calls it without effect, and tells taps of its verdict; by default `enforce`. The operator's override wins (judgement §3). */
  readonly mode?: HandlerMode;
  /**
   * A failure of this handler fails the stage: what it was to guard does not go on (spec §10.6). A veto must return `allow()` or
   * `cancel()` then. `false` if absent: the handlers after it run as if it were not there.
   */
  readonly failClosed?: boolean;
}

/** The options of an observer: called in its place, not awaited, its failure reported to the tap. */
export interface ObserverOptions extends ContributionOptions {
  readonly detached?: boolean;
}

/** The options of a veto. */
export interface VetoOptions extends JudgingOptions {
  /** `false` declines to judge again what changed after it allowed; the outcome then says so. */
  readonly recheck?: boolean;
}

/** The options of a veto or mutator on a stage that judges streams: one whose payload says `streaming`. */
export interface PreviewOptions {
  /**
   * Parts of a streamed text may be shown before this handler has judged or changed the whole. Without it nothing is
   * shown before the final (spec §14.7).
   */
  readonly preview?: 'ok';
}

/** The options of each class. */
interface OptionsByClass {
  readonly observer: ObserverOptions;
  readonly augmenter: JudgingOptions;
  readonly mutator: JudgingOptions;
  readonly veto: VetoOptions;
  readonly resolver: JudgingOptions;
}

/** `PreviewOptions` where the family judges streams; nothing more elsewhere. */
type PreviewOptionsOf<F extends FamilyName> =
  PayloadOf<F> extends { readonly streaming: boolean } ? PreviewOptions : unknown;

/** The options that join those of each class on one family. */
interface FamilyOptionsByClass<F extends FamilyName> {
  readonly observer: unknown;
  readonly augmenter: unknown;
  readonly mutator: PreviewOptionsOf<F>;
  readonly veto: PreviewOptionsOf<F>;
  readonly resolver: unknown;
}

/** The options of a contribution of one class to one family. */
export type OptionsOf<
  F extends FamilyName,
  C extends HandlerClass,
  X extends boolean = boolean,
> = OptionsByClass[C] &
  FamilyOptionsByClass<F>[C] &
  MatchOptions<F> & {
    readonly failClosed?: C extends 'observer' ? never : C extends 'veto' ? X : boolean | X;
  };

/**
 * A handler with its address: what `kernel.contribute` takes.
 *
 * @example
 * kernel.contribute({
 *   family: 'egress.preparing', class: 'veto', extensionId: 'acme', id: 'quiet-hours',
 *   handler: () => cancel('quiet-hours'),
 * });
 */
export type Contribution<
  F extends FamilyName = FamilyName,
  C extends ClassOf<F> & HandlerClass = ClassOf<F> & HandlerClass,
  X extends boolean = false,
> = {
  readonly family: F;
  readonly class: C;
  readonly extensionId: string;
  readonly id: string;
  /** `last`: after all others of its stage, whatever their priority (spec §4.9). */
  readonly band?: 'last';
  readonly handler: HandlerOf<F, C, X>;
} & OptionsOf<F, C, X>;
