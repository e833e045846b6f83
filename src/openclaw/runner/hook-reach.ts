import type { Band, FamilyName, Kernel, PlannedHandler } from 'sluice-kernel';
import type { LegacyHookRow } from '../hooks/row.js';
import { type LegacyProfile, rowsOf } from '../profiles/index.js';
import type { LegacyBridge } from './bridge-state.js';
import { isEligible } from './call-handler.js';
import type { Registered } from './registration.js';

type Row = Pick<LegacyHookRow, 'band' | 'parts'>;

/** Gives the band that a hook's call runs. */
export type BandOf = (row: Row, family: FamilyName) => Band | undefined;

/** Stages that a later hook of the profile has a band of are run without that band, and the band alone. */
export function bandsOf(profile: LegacyProfile): BandOf {
  const shared: ReadonlySet<FamilyName> = new Set(
    Object.values(rowsOf(profile)).flatMap(({ band, parts }) =>
      band === undefined ? [] : parts.map(({ family }) => family),
    ),
  );
  return (row, family) => row.band ?? (shared.has(family) ? 'main' : undefined);
}

/**
 * Counts the handlers that a call of a hook would reach. Hosts ask before every call, so it counts only after a change
 * of the plans.
 *
 * @returns the counter: how many handlers, legacy and canonical, of those that are for an event and a context if it is given them; 0 for a name that there is not, as the legacy runner says.
 */
export function hookReach(
  kernel: Kernel,
  bridge: LegacyBridge,
  profile: LegacyProfile,
  bandOf: BandOf,
): (hook: string, event?: object, ctx?: object) => number {
  const counted = new Map<string, Counted>();
  const rows = rowsOf(profile);
  /** The handlers of a plan, several contributions of one legacy handler as that one. */
  function reached(row: Row, family: FamilyName, plan: readonly PlannedHandler[]): object[] {
    const band = bandOf(row, family);
    return plan
      .filter((handler) => !handler.disabled && (band === undefined || handler.band === band))
      .map((handler) => bridge.ownerOf(handler) ?? handler)
      .filter((one) => !('row' in one) || one.row.isHosted !== true);
  }
  return (hook, event, ctx) => {
    const row = Object.hasOwn(rows, hook) ? rows[hook] : undefined;
    if (row === undefined || row.isHosted === true) return 0;
    const isAsked = event !== undefined || ctx !== undefined;
    const last = counted.get(hook);
    const isFresh = last?.plans.every(([family, plan]) => kernel.plan(family) === plan) === true;
    if (isFresh && !(isAsked && last.isPicky)) return last.count;
    const families = [...new Set(row.parts.map(({ family }) => family))];
    const plans = families.map((family) => [family, kernel.plan(family)] as const);
    const found = new Set(plans.flatMap(([family, plan]) => reached(row, family, plan)));
    const isPicky = [...found].some((one) => 'row' in one && hasOptions(one as Registered)); // of the bridge
    counted.set(hook, { plans, count: found.size, isPicky });
    return isAsked ? [...found].filter(isFor(event, ctx)).length : found.size;
  };
}

interface Counted {
  readonly plans: readonly (readonly [FamilyName, readonly PlannedHandler[]])[];
  readonly count: number;
  /** Some handler is not for every event. */
  readonly isPicky: boolean;
}

const isFor = (event: object | undefined, ctx: object | undefined) => (one: object) =>
  !('row' in one) || isEligible(one as Registered, event ?? {}, ctx ?? {}); // a handler of the bridge has a row

function hasOptions(registered: Registered): boolean {
  const { matcher, eligibleTriggers, eligibleDispatchKinds } = registered;
  return (matcher ?? eligibleTriggers ?? eligibleDispatchKinds) !== undefined;
}
