import type { SessionEvent } from '../../stream/index.js';
import { orderingChecker } from './ordering-checker.js';
import type { OrderingViolation } from './ordering-violation.js';

/**
 * Finds the faults in the order of a run's events: none in a good run. Any agent's events will do; for a stream
 * that goes on, use `orderingChecker` or `assertOrdering`.
 *
 * @example
 * checkOrdering([{ type: 'agent_start' }]); // [{ index: 1, rule: 'agent-end-missing', message: '...' }]
 */
export function checkOrdering(events: Iterable<SessionEvent>): OrderingViolation[] {
  const checker = orderingChecker();
  const violations: OrderingViolation[] = [];
  for (const event of events) violations.push(...checker.take(event));
  violations.push(...checker.finish());
  return violations;
}
