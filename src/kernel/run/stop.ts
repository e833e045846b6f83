import { codes } from '../outcome/entry.js';
import type { Plan } from './services/plan.js';
import { failed, stageFailed } from './state/failures.js';
import type { Run } from './state/run.js';

/** Ends the stage after the handler at an index: it cancelled, or failed closed. */
export function stop(run: Run, at: number): true {
  run.stopped = run.status === 'cancelled' ? 'after-cancel' : 'after-failure';
  reach(run, at + 1);
  return true;
}

/** Ends the stage before the handler at an index: the caller's signal was aborted. */
export function stopAborted(run: Run, at: number): true {
  stageFailed(run, 'aborted', 'the dispatch was aborted by its caller');
  run.stopped = 'aborted';
  reach(run, at);
  return true;
}

/**
 * Ends the stage before the handler at an index: its budget is spent. The rest is not run, and one among them that is fail-closed
 * fails the stage (spec §10.2).
 */
export function stopSpent(run: Run, plan: Plan, at: number): true {
  run.stopped = 'budget-spent';
  reach(run, at);
  const left = plan.entries.slice(at).filter(({ code }) => code !== codes.audited); // §3: outside of the budget
  if (run.rechecking) run.cold.stale = [...(run.stale ?? []), ...left];
  for (const entry of left) {
    const error = new Error(`the stage's budget of ${plan.stageTimeoutMs} ms was spent before it`);
    failed(run, entry, 'not-run', error);
  }
  return true;
}

/** How many handlers of the plan that is under way were called. */
function reach(run: Run, count: number): void {
  if (run.rechecking) run.cold.rechecked = count;
  else run.reached = count;
}
