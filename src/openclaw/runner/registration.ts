import type { Clock } from 'sluice-kernel';
import type { LegacyHookRow } from '../hooks/row.js';
import type {
  LegacyContext,
  LegacyEvent,
  LegacyHookName,
  LegacyProfile,
} from '../profiles/index.js';

/** A handler of a plugin hook, as `api.on` takes it. */
export interface LegacyHookRegistration<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> {
  readonly pluginId: string;
  readonly hookName: H;
  /** Its result may be anything. */
  handler(event: LegacyEvent<H, P>, ctx: LegacyContext<H, P>): unknown;
  /** Higher runs first; 0 by default. */
  readonly priority?: number;
  /** Milliseconds that it may take; by default those of its hook. */
  readonly timeoutMs?: number;
  /** The tools that it is called for (profile 2026.9, tool hooks); all of them by default. */
  readonly matcher?: readonly string[];
  /** The triggers of runs that it is called for (`before_agent_reply`); all by default. */
  readonly eligibleTriggers?: readonly string[];
  /** The kinds of dispatches that it is called for (`reply_dispatch`); all by default. */
  readonly eligibleDispatchKinds?: readonly string[];
  /** The file that it comes from. */
  readonly source?: string;
}

/** Compares handlers by their run order: priority, plugin, registration. */
export function inRunOrder(a: Registered, b: Registered): number {
  const byCodeUnit = (one: string, other: string): number =>
    one < other ? -1 : Number(one > other);
  return (
    (b.priority ?? 0) - (a.priority ?? 0) ||
    byCodeUnit(a.pluginId, b.pluginId) ||
    byCodeUnit(a.index, b.index)
  );
}

/** A registered handler, in the order in which its plugin registered it. */
export interface Registered extends Omit<LegacyHookRegistration<string>, 'handler'> {
  /** The row of its hook, in its profile. */
  readonly row: LegacyHookRow;
  readonly clock: Clock;
  /** The plugin's handler: what it makes of an event is its answer. */
  readonly answer: (event: never, ctx: never) => unknown;
  /** The plugin's registrations counted from 0, zero-padded: ties inside a plugin keep their order. */
  readonly index: string;
}
