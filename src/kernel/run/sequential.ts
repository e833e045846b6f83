import { type AnyHandler, codes, type Entry } from '../outcome/entry.js';
import { isThenable } from '../value/thenable.js';
import { accept, wrote } from './accept.js';
import { awaitDetached } from './detached.js';
import type { HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import { failed } from './state/failures.js';
import type { Run } from './state/run.js';
import { stop, stopAborted } from './stop.js';
import { timeStep } from './wait.js';

/** Waits for a handler's promise, and calls `runSequential` for the rest when that has settled. */
export type WaitFor = (
  run: Run,
  plan: Plan,
  at: number,
  pending: PromiseLike<unknown>,
  call: HandlerCall,
) => void;

/**
 * Calls the handlers of a sequential stage, one after the other. A handler that returns synchronously costs no
 * await; at the first promise the loop hands over (spec §4.3).
 *
 * @returns whether the plan is done.
 */
export function runSequential(run: Run, plan: Plan, from: number, waitFor: WaitFor): boolean {
  const { handlers, owns, entries, size } = plan;
  const { steps } = run;
  const { signal } = run.terms;
  const quiet = steps === undefined && !plan.hasStrict; // nothing to write down where nothing is returned
  for (let i = from; i < size; i++) {
    if (signal?.aborted === true) return stopAborted(run, i);
    if (steps !== undefined) run.beganMs = run.services.clock.monotonicMs();
    const call = run.call ?? run.newCall();
    let ends = false;
    try {
      const result = (handlers[i] as AnyHandler).call(undefined, call, owns[i]); // the list is nobody's `this`
      const entry = entries[i] as Entry;
      if (typeof result === 'object' && result !== null && isThenable(result)) {
        if (entry.code !== codes.detached) {
          waitFor(run, plan, i, result, call);
          return false;
        }
        awaitDetached(run, entry, result, call);
        continue;
      }
      if (!run.isIntact) ends = wrote(run, entry, result);
      else if (result === undefined && quiet) continue;
      else ends = accept(run, entry, run.rechecking ? -1 : i, result);
    } catch (thrown) {
      ends = failed(run, entries[i] as Entry, 'threw', thrown);
    }
    if (steps !== undefined) timeStep(run, run.beganMs);
    if (ends) return stop(run, i);
  }
  return true;
}
