import { authorOf, type Entry } from '../../outcome/entry.js';
import type { Step } from '../../outcome/outcome.js';

/** A step of a handler: who it is, what it did, and its own budget where it is not the stage's. */
export function stepOf(
  entry: Entry,
  result: Step['result'],
  more: Pick<Step, 'why' | 'recheck'> = {},
): Step {
  const { class: handlerClass, timeoutMs, budgetFrom } = entry;
  const budget = budgetFrom === undefined ? {} : { budget: { timeoutMs, from: budgetFrom } };
  const told = entry.traits.mode === 'audit' && result !== 'skipped' ? 'audited' : result;
  return { ...authorOf(entry), class: handlerClass, result: told, ...more, ...budget };
}
