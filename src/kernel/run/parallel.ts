import { type AnyHandler, codes, type Entry } from '../outcome/entry.js';
import { isThenable } from '../value/thenable.js';
import { accept } from './accept.js';
import { awaitDetached } from './detached.js';
import { Pending } from './pending.js';
import type { Plan } from './services/plan.js';
import { failed } from './state/failures.js';
import type { Run } from './state/run.js';
import { stopAborted } from './stop.js';
import { type Resume, timeStep } from './wait.js';

/**
 * Calls the observers of a parallel stage: all of them start in this tick. The stage ends when the last has
 * settled or is out of time (spec §4.2).
 *
 * @returns whether the plan is done: `false` while it waits.
 */
export function runParallel(run: Run, plan: Plan, resume: Resume): boolean {
  const { handlers, owns, entries, size } = plan;
  const { steps } = run;
  const { signal } = run.terms;
  const quiet = steps === undefined && !plan.hasStrict; // nothing to write down where nothing is returned
  let pending: Pending | undefined;
  for (let i = 0; i < size; i++) {
    if (signal?.aborted === true) {
      stopAborted(run, i);
      break;
    }
    const beganMs = steps === undefined ? 0 : run.services.clock.monotonicMs();
    const call = run.call ?? run.newCall();
    try {
      const result = (handlers[i] as AnyHandler).call(undefined, call, owns[i]); // the list is nobody's `this`
      if (result === undefined && quiet) continue;
      const entry = entries[i] as Entry;
      if (typeof result === 'object' && result !== null && isThenable(result)) {
        if (entry.code === codes.detached) {
          awaitDetached(run, entry, result, call);
        } else {
          pending ??= new Pending(run, plan, resume);
          pending.add(i, result, call, beganMs);
        }
        continue;
      }
      accept(run, entry, i, result);
    } catch (thrown) {
      failed(run, entries[i] as Entry, 'threw', thrown);
    }
    if (steps !== undefined) timeStep(run, beganMs);
  }
  return pending === undefined || pending.begin();
}
