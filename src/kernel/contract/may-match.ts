import { isAmong } from '../match/conditions.js';
import type { Match } from '../outcome/matching.js';
import type { PlannedHandler } from './contract.js';

/**
 * Tells whether the match of a handler may be met by a dispatch of which something is known (judgement §2.8).
 *
 * @param possible the values that a field may have, by its key in a match: `null` among them if it may be absent. Nothing if any
 *   value is possible.
 * @example
 * mayMatch(handler, (key) => (key === 'channel' ? ['pigeon'] : undefined));
 */
export function mayMatch(
  handler: Pick<PlannedHandler, 'match' | 'operatorMatch' | 'class' | 'policy'>,
  possible: (key: string) => readonly unknown[] | undefined,
): boolean {
  const unknownMeets = handler.class === 'veto' && handler.policy === 'closed'; // judgement §2.3
  const mayMeet = (match: Match): boolean =>
    Object.entries(match).every(
      ([key, values]) =>
        possible(key)?.some((value) => isAmong(value, values, unknownMeets)) ?? true,
    );
  return [handler.match, handler.operatorMatch].every(
    (match) => match === undefined || mayMeet(match),
  );
}
