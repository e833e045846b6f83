import type {
  Envelope,
  FamilyName,
  Fields,
  HandlerClass,
  Outcome,
  Principal,
} from 'sluice-kernel/internal';
import type { Announcement } from '../facts/legacy-bus.js';

/** How a hook's handlers are run by the legacy runner. */
export type LegacyHookKind = 'void' | 'modifying' | 'claim' | 'sync';

/** The power of a handler of a hook over the event. */
export type Coverage = 'observe' | 'mutate' | 'veto' | 'resolve';

/** The place of a legacy hook, key or stream on the pipeline: it works, it is only watched, or it has no moment. */
export type BridgeStatus = 'bridged' | 'observe-only' | 'retired';

/** The texts of plugins that wait for the next prompt of a session, or that a run of it has taken. */
export type QueuedInjections = (sessionKey: string, runId: string) => readonly object[];

/** The arguments of the handlers of a hook. */
export interface LegacyView<Event = object, Context = object> {
  readonly event: Event;
  readonly ctx: Context;
}

/** The answer of one handler, and its changes to its event's parameters in place. */
export interface Answer {
  /** The object that it returned; empty where it returned nothing. */
  readonly value: Fields;
  /** Parameters that it set in place, where the legacy caller honours that. */
  readonly inPlace: Fields | undefined;
}

/** One contribution of a hook's handler: what of the answer goes to which stage, as which class. */
export interface HookPart {
  readonly family: FamilyName;
  readonly class: HandlerClass;
  /**
   * Reads the part of an answer that this class may return; `undefined` where there is none. What is of a wrong type is
   * handed on as it is: the kernel refuses it, and says so.
   */
  readonly read?: (answer: Answer, at: AtCall) => unknown;
}

/** The state of a stage, as a hook's handlers come upon it. */
export interface AtCall {
  /** The payload as it was emitted. */
  readonly emitted: unknown;
  /** The payload as it is; of a hook with `oncePerRun`, as it was when its first handler was called in this stage. */
  readonly begun: unknown;
  /** The answers of the handlers of this hook before this one. */
  earlier(): readonly Fields[];
}

/** The end of a call of the legacy runner. */
export interface Ending {
  /** The outcomes of its dispatches, in the order of the announcements. */
  readonly outcomes: readonly [Outcome, ...Outcome[]];
  /** The answers that the pipeline took, in run order. */
  readonly answers: readonly Fields[];
  /** The plugin of each answer. */
  readonly plugins: readonly string[];
  /** The fields that contributions other than legacy handlers wrote: `content`, or `params.path`. */
  readonly canonicalWrites: readonly string[];
}

/** The types of a hook. */
export interface HookShape<Event, Context, Result, Kind> {
  readonly event: Event;
  readonly ctx: Context;
  readonly result: Result;
  readonly kind: Kind;
}

/**
 * One row of the mapping: everything that the bridge knows about a plugin hook, with the shapes of profile 2026.3. A handler is
 * called with `Event` and `Context`, and may return `Result` (`undefined` if nothing is read). Adding a hook is adding a row.
 */
export interface LegacyHookRow<
  Event = object,
  Context = object,
  Result = unknown,
  Kind extends LegacyHookKind = LegacyHookKind,
> {
  readonly kind: Kind;
  /** The contributions of one handler, in run order. */
  readonly parts: readonly HookPart[];
  /** `last`: after all other handlers of its stages, whatever their priority. */
  readonly band?: 'last';
  /** An answer of an earlier stage of the same run stands for the later one: the handler is not called again. */
  readonly oncePerRun?: true;
  readonly coverage: readonly Coverage[];
  readonly status: BridgeStatus;
  /** Why it is mapped so, and what there is to know about it. */
  readonly why: string;
  /** How the answers of several handlers become one, in a few words. */
  readonly merge: string;
  /** The event's field whose keys a handler may set in place, as the legacy caller reads them back. */
  readonly honoursInPlace?: 'params';
  /** The fields of the event in which each handler gets what the ones before it left, in a shallow copy of the event. */
  chains?(payload: Fields, event: object): object;
  /** Milliseconds that a handler may take if nobody says otherwise. Without it the stage's own budget holds. */
  readonly timeoutMs?: number;
  /** A handler that fails or takes too long refuses the action, and the caller of the runner gets the error. */
  readonly isClosed?: true;
  /** The handlers get copies of the event: one `each`, or one for all (`once`). */
  readonly copies?: 'each' | 'once';
  /** The context of a handler has `hookInvocation`, which tells whether its result can still count. */
  readonly tellsInvocation?: true;
  /** The runner fills in the run of the context where the event names none. */
  readonly namesRun?: true;
  /** Reads whatever a handler returned but nothing, if the legacy runner makes something of results that are no objects. */
  decisionOf?(result: unknown): Fields;
  /** Says why an answer ends the call, if it does: the handlers after it are not called. */
  ends?(answer: unknown): string | undefined;
  /** Its handlers hear a host of Sluice, if it has parts: a legacy runner has no method for it (event-pipeline §17.30). */
  readonly isHosted?: true;
  /** The advice to a handler that writes to its event: the result to return instead. */
  readonly instead: string;
  /** The legacy event and context as canonical dispatches. */
  announce(event: Event, ctx: Context): readonly Announcement[];
  /** A canonical envelope, and on whose behalf it is, as the legacy event and context. */
  view(
    envelope: Envelope,
    principal?: Principal,
    queued?: QueuedInjections,
  ): LegacyView<Event, Context>;
  /** Returns whether the legacy hook tells of this event at all; by default of every event. Asked of canonical events only. */
  wants?(envelope: Envelope): boolean;
  /** The result of the legacy runner; `undefined` for a void hook. */
  result(ending: Ending): unknown;
  /** For the compiler alone: no row has it. */
  readonly '~shape'?: HookShape<Event, Context, Result, Kind>;
}

/** Neither `undefined` nor `null`: the legacy merges pass those over. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The last answer's value of a field that is neither `undefined` nor `null`. */
export function lastGiven(answers: readonly Fields[], field: string): unknown {
  return answers.map((answer) => answer[field]).findLast(isGiven);
}

/** Returns whether some answer gives a field. */
export function anyGives(answers: readonly Fields[], field: string): boolean {
  return answers.some((answer) => isGiven(answer[field]));
}

/**
 * The fields of a single answer that the hook does not know. The legacy runner hands a single answer through as it is,
 * and merges from the second on.
 */
export function extrasOf(answers: readonly Fields[], known: readonly string[]): Fields {
  const [only, ...more] = answers;
  if (only === undefined || more.length > 0) return {};
  return Object.fromEntries(Object.entries(only).filter(([key]) => !known.includes(key)));
}
