import { explain, type OutcomeRecord } from '../../src/kernel/index.js';

/** The lines of an explanation as texts, those below the verdict indented. */
export function explained(
  outcome: OutcomeRecord,
  options?: Parameters<typeof explain>[1],
): string[] {
  return explain(outcome, options).map(({ depth, words }) => `${'  '.repeat(depth)}${words}`);
}
