import type { Outcome } from '../kernel/index.js';
import { factOf, isSharedFact } from './fact-identity.js';
import type { FactBus, FactIdentity, SameFact } from './same-fact.js';

/**
 * Dispatches what a legacy bus tells of, unless another bus has told of the same fact: its outcome is then given.
 *
 * @param payload was made by `parsePayload` for the family.
 * @param dispatch dispatches it to the family.
 */
export function announce(
  facts: SameFact,
  bus: FactBus,
  family: string,
  payload: object,
  dispatch: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!isSharedFact(family)) return dispatch();
  const identity = factOf(family, payload as never) as FactIdentity; // parsed for this family
  return facts.announce(bus, identity, dispatch as never) as Promise<Outcome>; // and dispatched to it
}
