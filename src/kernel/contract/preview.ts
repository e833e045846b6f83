import type { PlannedHandler } from './contract.js';

/**
 * The handlers of a stage that have to judge or change a text as a whole: its vetoes and mutators without
 * `preview: 'ok'`. Where there is one, nothing of a streamed text may be shown before its final (spec §14.7).
 *
 * @param handlers what `kernel.plan` says of the family. Disabled handlers do not count.
 * @example
 * const mayShow = previewObstacles(kernel.plan('egress.preparing')).length === 0;
 */
export function previewObstacles(handlers: readonly PlannedHandler[]): readonly PlannedHandler[] {
  return handlers.filter(
    (handler) =>
      !handler.disabled &&
      !handler.previewOk &&
      (handler.class === 'veto' || handler.class === 'mutator'),
  );
}
