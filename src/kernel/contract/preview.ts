import type { PlannedHandler } from './contract.js';
import { mayMatch } from './may-match.js';

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
      (handler.class === 'veto' || handler.class === 'mutator') &&
      mayMatch(handler, possible),
  );
}
