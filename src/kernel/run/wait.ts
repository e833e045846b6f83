import { authorOf, type Entry } from '../outcome/entry.js';
import { accept } from './accept.js';
import { abandonCall, type HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed } from './state/failures.js';
import type { Cuts, Run } from './state/run.js';

export type { Cuts };

/** Goes on with a plan at an index, once what it waited for has settled. */
export type Resume = (run: Run, plan: Plan, from: number) => void;

/** Starts to wait until a deadline, or until the caller aborts. */
export function beginWait(run: Run, nowMs: number, handlerDeadlineMs: number, cuts: Cuts): void {
  if (run.stageDeadlineMs === Number.POSITIVE_INFINITY)
    run.stageDeadlineMs = nowMs + run.plan.stageTimeoutMs; // §10.3: counted from the first wait
  run.deadlineMs = Math.min(handlerDeadlineMs, run.stageDeadlineMs);
  run.cuts = cuts;
  const { deadlines } = run.services;
  if (run.isOpen) deadlines.arm(run.deadlineMs);
  else {
    run.isOpen = true;
    deadlines.add(run);
  }
  if (run.signal === undefined) return;
  if (run.signal.aborted) {
    cuts.abort(); // aborted by the handler that is waited for
    return;
  }
  run.onAbort = () => cuts.abort();
  run.signal.addEventListener('abort', run.onAbort, { once: true });
}

/** Ends the wait. */
export function endWait(run: Run): void {
  run.cuts = undefined;
  run.deadlineMs = Number.POSITIVE_INFINITY;
  run.services.deadlines.waitEnded();
  if (run.onAbort === undefined) return;
  run.signal?.removeEventListener('abort', run.onAbort);
  run.onAbort = undefined;
}

/** Gives a handler up: aborts its signal, and lists it as running until `settledLate` takes it off. */
export function abandon(run: Run, call: HandlerCall, entry: Entry, reason: Error): StillRunning {
  const { services } = run;
  const sinceMs = services.clock.monotonicMs();
  const running: StillRunning = { ...authorOf(entry), family: run.family, sinceMs };
  services.stillRunning.add(running);
  abandonCall(call, reason);
  return running;
}

/** Takes a late-coming result; what goes wrong with it (a hostile getter, say) is the handler's failure. */
export function guarded(run: Run, entry: Entry, at: number, result: unknown): boolean {
  try {
    return accept(run, entry, at, result);
  } catch (thrown) {
    return failed(run, entry, 'threw', thrown);
  }
}

/** Writes how long the handler of the last step took. */
export function timeStep(run: Run, beganMs: number): void {
  const last = run.steps?.at(-1);
  if (run.steps === undefined || last === undefined) return;
  const durationMs = run.services.clock.monotonicMs() - beganMs;
  run.steps[run.steps.length - 1] = { ...last, durationMs };
}
