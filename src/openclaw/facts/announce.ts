import type { AsyncFamily, Outcome, PayloadOf } from 'sluice-kernel';
import { factOf, isSharedFact, type SharedFactFamily } from './fact-identity.js';
import type { FactBus, SameFact } from './same-fact.js';

/**
 * Dispatches what a bus announces, unless another bus has told of the same fact.
 *
 * @param payload parsed for the family.
 * @returns the outcome of the dispatch that told of the fact first.
 */
export function announce(
  facts: SameFact,
  bus: FactBus,
  family: string,
  payload: object,
  begin: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!isSharedFact(family)) return begin();
  const fact = factOf(family, payload as PayloadOf<SharedFactFamily>); // parsed for this family
  return facts.announce<AsyncFamily>(bus, fact, begin as () => Promise<Outcome<AsyncFamily>>); // and of it
}
