import type { ParityRun } from './parity-run.js';

/** The calls of a run that reached no handler: both sides do nothing then, and are equal. */
export function leftOutOf({ calls, next = [] }: ParityRun): readonly string[] {
  return [calls, ...next.map((step) => step.calls)].flatMap((one, at) =>
    one.length > 0 ? [] : [`call ${at}: no handler was called`],
  );
}
