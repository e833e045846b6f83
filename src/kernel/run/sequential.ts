import { accept } from './accept.js';
import { awaitDetached } from './detached.js';
import { type AnyHandler, codes, type Entry } from './entry.js';
import { failed, late } from './failures.js';
import type { Plan } from './plan.js';
import type { Run } from './run.js';
import { stop, stopAborted, stopSpent } from './stop.js';
import { isThenable, whenSettled } from './thenable.js';
import { abandon, beginWait, endWait, guarded, type Resume, timeStep } from './wait.js';

/**
 * Calls the handlers of a sequential stage, one after the other. A handler that returns synchronously costs no
 * await; at the first promise the loop returns, and is called again for the rest (spec §4.2).
 *
 * @returns whether the plan is done: `false` while it waits.
 */
export function runSequential(run: Run, plan: Plan, from: number, resume: Resume): boolean {
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
        if (entry.code === codes.detached) awaitDetached(run, entry, result);
        else {
          waitFor(run, plan, i, result, beganMs, resume);
          return false;
        }
      } else ends = accept(run, entry, run.rechecking ? -1 : i, result);
    } catch (thrown) {
      ends = failed(run, entries[i] as Entry, 'threw', thrown);
    }
    call = run.call;
    if (steps !== undefined) timeStep(run, beganMs);
    if (ends) return stop(run, i);
  }
  return true;
}

/** Waits for one handler: until it settles, its time is up, or the dispatch is aborted, whichever is first. */
function waitFor(
  run: Run,
  plan: Plan,
  at: number,
  pending: PromiseLike<unknown>,
  beganMs: number,
  resume: Resume,
): void {
  const entry = plan.entries[at] as Entry;
  const call = run.call; // its own from here on: the handlers after it get another
  let open = true;
  const nowMs = run.services.clock.monotonicMs();
  const handlerDeadlineMs = nowMs + entry.timeoutMs;

  const settle = (ends: boolean): void => {
    if (run.steps !== undefined) timeStep(run, beganMs);
    run.renewCall();
    if (ends) {
      stop(run, at);
      resume(run, plan, plan.size);
    } else resume(run, plan, at + 1);
  };
  const cut = (reason: Error): void => {
    open = false;
    endWait(run);
    abandon(run, call, entry, pending, reason);
  };

  whenSettled(
    pending,
    (value) => {
      if (!open) return late(run, entry, 'fulfilled');
      open = false;
      endWait(run);
      settle(guarded(run, entry, () => accept(run, entry, run.rechecking ? -1 : at, value)));
    },
    (reason) => {
      if (!open) return late(run, entry, 'rejected', reason);
      open = false;
      endWait(run);
      settle(failed(run, entry, 'threw', reason));
    },
  );

  beginWait(run, nowMs, handlerDeadlineMs, {
    deadline: (atMs) => {
      const spent = atMs >= run.stageDeadlineMs;
      const budget = spent
        ? `the stage's budget of ${plan.stageTimeoutMs} ms was spent`
        : `it took longer than ${entry.timeoutMs} ms`;
      const reason = new Error(`${budget}; its result, should it come, is dropped`);
      cut(reason);
      const ends = failed(run, entry, 'timed-out', reason);
      if (!spent || ends) return settle(ends);
      stopSpent(run, plan, at + 1);
      resume(run, plan, plan.size);
    },
    abort: () => {
      const reason = new Error('the dispatch was aborted');
      cut(reason);
      failed(run, entry, 'aborted', reason);
      stopAborted(run, at + 1);
      resume(run, plan, plan.size);
    },
  });
}
