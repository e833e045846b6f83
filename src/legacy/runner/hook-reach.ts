import type { Band, FamilyName, Kernel, PlannedHandler } from '../../kernel/index.js';
import { type LegacyHookName, legacyHookNames, pluginHooks } from '../hooks/index.js';
import type { LegacyHookRow } from '../hooks/row.js';
import type { LegacyBridge } from './bridge-state.js';

type Row = Pick<LegacyHookRow, 'band' | 'parts'>;

/** The stages that some hook has a band of its own in. */
const shared: ReadonlySet<FamilyName> = new Set(
  legacyHookNames.flatMap((hook) => {
    const { band, parts }: Row = pluginHooks[hook];
    return band === undefined ? [] : parts.map(({ family }) => family);
  }),
);

/** The band that a hook's call runs: a stage that a later hook has a band of is run without it, and the band alone. */
export function bandOf(row: Row, family: FamilyName): Band | undefined {
  return row.band ?? (shared.has(family) ? 'main' : undefined);
}

/**
 * Counts the handlers that a call of a hook would reach. Hosts ask before every call, so it counts only after a change
 * of the plans.
 *
 * @returns the counter: how many handlers, legacy and canonical; 0 for a name that there is not, as the legacy runner says.
 */
export function hookReach(kernel: Kernel, bridge: LegacyBridge): (hook: LegacyHookName) => number {
  const counted = new Map<LegacyHookName, Counted>();
  /** The handlers of a plan, several contributions of one legacy handler as that one. */
  function reached(row: Row, family: FamilyName, plan: readonly PlannedHandler[]): object[] {
    const band = bandOf(row, family);
    return plan
      .filter((handler) => !handler.disabled && (band === undefined || handler.band === band))
      .map((handler) => bridge.ownerOf(handler) ?? handler);
  }
  return (hook) => {
    if (!Object.hasOwn(pluginHooks, hook)) return 0;
    const row: Row = pluginHooks[hook];
    const last = counted.get(hook);
    if (last?.plans.every(([family, plan]) => kernel.plan(family) === plan) === true)
      return last.count;
    const families = [...new Set(row.parts.map(({ family }) => family))];
    const plans = families.map((family) => [family, kernel.plan(family)] as const);
    const count = new Set(plans.flatMap(([family, plan]) => reached(row, family, plan))).size;
    counted.set(hook, { plans, count });
    return count;
  };
}

interface Counted {
  readonly plans: readonly (readonly [FamilyName, readonly PlannedHandler[]])[];
  readonly count: number;
}
