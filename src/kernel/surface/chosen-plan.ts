import type { Upstream } from '../outcome/envelope.js';
import type { Given } from '../outcome/given.js';
import type { FamilyState, Registry } from '../registry/registry.js';
import type { Plan } from '../run/services/plan.js';
import { upstreamOf } from '../run/state/unheard.js';

/**
 * Finds the handlers that a dispatch calls: of the band that it is for, those that match (judgement §2).
 *
 * @param nested the data that goes on from the dispatch whose handler began this one.
 */
export function chosenPlan(
  registry: Registry,
  slot: FamilyState,
  payload: object,
  given: Given | undefined,
  nested: Upstream | undefined,
): Plan {
  const plan =
    given?.band === undefined
      ? (slot.plan ?? registry.planOf(slot))
      : registry.bandOf(slot, given.band);
  const { index } = plan;
  if (index === undefined) return plan;
  if (!index.readsOrigin) return index.planFor(payload, given, undefined);
  const upstream = given?.after === undefined ? nested : upstreamOf(given.after);
  return index.planFor(payload, given, upstream);
}
