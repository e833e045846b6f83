import { type AnyHandler, codes, type Entry } from '../outcome/entry.js';
import { isThenable } from '../value/thenable.js';
import { accept } from './accept.js';
import { awaitDetached } from './detached.js';
import type { Plan } from './services/plan.js';
import { failed } from './state/failures.js';
import type { Run } from './state/run.js';
import { stop, stopAborted } from './stop.js';
import { timeStep } from './wait.js';

/**
 * Calls the handlers of a sequential stage, one after the other. A handler that returns synchronously costs no
 * await; at the first promise the loop returns, and is called again for the rest (spec §4.3).
 *
 * @returns whether the plan is done. `false`: `run.pending` has to settle first, of the handler at `run.pendingAt`.
 */
export function runSequential(run: Run, plan: Plan, from: number): boolean {
  const { handlers, owns, entries, size } = plan;
  const { signal, steps } = run;
  const quiet = steps === undefined && !plan.hasStrict; // nothing to write down where nothing is returned
  let call = run.call;
  for (let i = from; i < size; i++) {
    if (signal?.aborted === true) return stopAborted(run, i);
    const beganMs = steps === undefined ? 0 : run.services.clock.monotonicMs();
    let ends = false;
    try {
      const result = (handlers[i] as AnyHandler)(call, owns[i]);
      if (result === undefined && quiet) continue;
      const entry = entries[i] as Entry;
      if (typeof result === 'object' && result !== null && isThenable(result)) {
        if (entry.code !== codes.detached) {
          run.pending = result;
          run.pendingAt = i;
          run.pendingBeganMs = beganMs;
          return false;
        }
        awaitDetached(run, entry, result);
        call = run.call;
        continue;
      }
      ends = accept(run, entry, run.rechecking ? -1 : i, result);
    } catch (thrown) {
      ends = failed(run, entries[i] as Entry, 'threw', thrown);
    }
    call = run.call;
    if (steps !== undefined) timeStep(run, beganMs);
    if (ends) return stop(run, i);
  }
  return true;
}
