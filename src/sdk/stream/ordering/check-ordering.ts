import { streamError } from '../errors.js';
import type { SessionEvent } from '../session-event.js';
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

/**
 * Passes a run's events on, and throws at the first that breaks the order: an assertion for tests, and for hosts in
 * test mode. The event that breaks it is not passed on. A reader that stops early is not told what is missing.
 *
 * @throws `session-out-of-order`, by the iteration.
 * @example
 * for await (const event of assertOrdering(agent.run(request))) handle(event);
 */
export async function* assertOrdering(
  events: AsyncIterable<SessionEvent> | Iterable<SessionEvent>,
): AsyncGenerator<SessionEvent> {
  const checker = orderingChecker();
  for await (const event of events) {
    refuseDisorder(checker.take(event));
    yield event;
  }
  refuseDisorder(checker.finish());
}

/** Throws the first of some violations. @throws `session-out-of-order`. */
export function refuseDisorder([violation]: readonly OrderingViolation[]): void {
  if (violation === undefined) return;
  const { index, rule, message } = violation;
  throw streamError('session-out-of-order', { index, rule, problem: message });
}
