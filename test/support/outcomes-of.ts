import type { FamilyName, Outcome } from '../../src/kernel/internal.js';

/** The outcomes of one family. */
export function outcomesOf<F extends FamilyName>(
  outcomes: readonly Outcome[],
  family: F,
): readonly Outcome<F>[] {
  return outcomes.filter((one): one is Outcome<F> => one.event.family === family);
}
