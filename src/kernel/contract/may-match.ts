import { comparison, meets } from '../match/conditions.js';
import { nameOf } from '../outcome/entry.js';
import type { Match } from '../outcome/matching.js';
import type { PlannedHandler } from './contract.js';

/**
 * Returns whether the match of a handler may be met by a dispatch of which something is known (judgement §2.8).
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
  const unknownMeets = handler.policy === 'closed' && handler.class !== 'observer'; // judgement §2.3
  const anyOf = (values: Match[string]) => ({ field: { isList: true }, ...comparison(values) });
  const mayMeet = (match: Match): boolean =>
    Object.entries(match).every(
      ([key, values]) =>
        possible(key)?.some((value) => meets(anyOf(values), value, unknownMeets)) ?? true,
    );
  return [handler.match, handler.operatorMatch].every(
    (match) => match === undefined || mayMeet(match),
  );
}

/**
 * The handlers of a stage that have to judge or change a text as a whole: its vetoes and mutators without
 * `preview: 'ok'`. Where there is one, nothing of a streamed text may be shown before its final (spec §14.7).
 *
 * @param handlers what `kernel.plan` says of the family. Disabled and audited handlers do not count, and neither do those whose match
 *   the text cannot meet.
 * @param possible the values that a field of the sends may have, as of `mayMatch`. By default anything is possible.
 * @example
 * const mayShow = previewObstacles(kernel.plan('egress.preparing')).length === 0;
 */
export function previewObstacles(
  handlers: readonly PlannedHandler[],
  possible: (key: string) => readonly unknown[] | undefined = () => undefined,
): readonly PlannedHandler[] {
  return handlers.filter(
    (handler) =>
      !handler.disabled &&
      handler.mode === 'enforce' &&
      !handler.previewOk &&
      judgesWhole(handler) &&
      mayMatch(handler, possible),
  );
}

/** A handler may change or keep back a text, or has to be there when it is judged. */
function judgesWhole({ class: name, policy }: PlannedHandler): boolean {
  return name === 'veto' || name === 'mutator' || (name === 'augmenter' && policy === 'closed');
}

/**
 * Says which handlers of `egress.preparing` hold back every answer until it is whole: one line of an extension does so for the
 * whole host (spec §14.7).
 *
 * @param handlers what `kernel.plan` says of the family.
 * @returns such as `no answer is shown while it grows: guard/sign lacks preview: 'ok'`; `undefined` if there is none.
 */
export function previewNotice(handlers: readonly PlannedHandler[]): string | undefined {
  const found = previewObstacles(handlers);
  if (found.length === 0) return undefined;
  const isOfAll = found.some(({ match, operatorMatch }) => !match && !operatorMatch);
  const which = isOfAll
    ? 'no answer is shown while it grows'
    : 'some answers are not shown while they grow';
  return `${which}: ${found.map(nameOf).join(', ')} ${found.length === 1 ? 'lacks' : 'lack'} preview: 'ok'`;
}
