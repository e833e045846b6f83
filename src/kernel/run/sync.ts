import type { AnyHandler, Entry } from '../outcome/entry.js';
import { isThenable, whenSettled } from '../value/thenable.js';
import { accept, wrote } from './accept.js';
import type { Plan } from './services/plan.js';
import { failed, late } from './state/failures.js';
import type { Run } from './state/run.js';
import { stop, stopAborted } from './stop.js';
import { timeStep } from './wait.js';

/**
 * Calls the handlers of a sync-sequential stage, one after the other, in the caller's stack. A promise is refused:
 * its rejection is observed, its value never used; the next handler sees the last good value (spec §4.4).
 *
 * @returns always `true`: it never waits.
 */
export function runSync(run: Run, plan: Plan): true {
  const { handlers, owns, entries, size } = plan;
  const { steps } = run;
  const { signal } = run.terms;
  const quiet = steps === undefined && !plan.hasStrict; // nothing to write down where nothing is returned
  for (let i = 0; i < size; i++) {
    if (signal?.aborted === true) return stopAborted(run, i);
    if (steps !== undefined) run.beganMs = run.services.clock.monotonicMs();
    const call = run.call ?? run.newCall();
    let ends = false;
    try {
      const result = (handlers[i] as AnyHandler).call(undefined, call, owns[i]); // the list is nobody's `this`
      const entry = entries[i] as Entry;
      if (typeof result === 'object' && result !== null && isThenable(result)) {
        ends = refused(run, entry, result);
      } else if (!run.isIntact) ends = wrote(run, entry, result);
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

/** Refuses a promise. It is a function of its own, as its closures would cost each handler of the loop a context. */
function refused(run: Run, entry: Entry, pending: PromiseLike<unknown>): boolean {
  whenSettled(
    pending,
    () => late(run, entry, undefined, 'fulfilled'),
    (reason) => late(run, entry, undefined, 'rejected', reason),
  );
  const problem = 'it returned a promise on a sync-sequential stage; the value is not used';
  return failed(run, entry, 'async-in-sync', new Error(problem));
}
