import { HandlerCall } from './call.js';
import { authorOf, type Entry } from './entry.js';
import { failed } from './failures.js';
import type { Plan } from './plan.js';
import type { Run } from './run.js';
import type { StillRunning } from './services.js';
import { whenSettled } from './thenable.js';

/** Goes on with a plan at an index, once what it waited for has settled. */
export type Resume = (run: Run, plan: Plan, from: number) => void;

/** What ends a wait from outside. */
export interface Cuts {
  /** The deadline is reached. It ends the wait, or sets a later `run.deadlineMs`. */
  readonly deadline: (nowMs: number) => void;
  /** The caller's signal was aborted. It ends the wait. */
  readonly abort: () => void;
}

/** Starts to wait until a deadline, or until the caller aborts. */
export function beginWait(run: Run, nowMs: number, handlerDeadlineMs: number, cuts: Cuts): void {
  if (run.stageDeadlineMs === Number.POSITIVE_INFINITY)
    run.stageDeadlineMs = nowMs + run.plan.stageTimeoutMs; // §10.3: counted from the first wait
  run.isWaiting = true;
  run.deadlineMs = Math.min(handlerDeadlineMs, run.stageDeadlineMs);
  run.onDeadline = cuts.deadline;
  run.cutShort = cuts.abort;
  run.services.deadlines.add(run);
  if (run.signal === undefined) return;
  if (run.signal.aborted)
    cuts.abort(); // aborted by the handler that is waited for
  else run.signal.addEventListener('abort', cuts.abort, { once: true });
}

/** Ends the wait. */
export function endWait(run: Run): void {
  if (!run.isWaiting) return;
  run.isWaiting = false;
  run.onDeadline = undefined;
  run.services.deadlines.remove(run);
  if (run.signal !== undefined && run.cutShort !== undefined)
    run.signal.removeEventListener('abort', run.cutShort);
  run.cutShort = undefined;
}

/** Gives a handler up: aborts its signal, and lists it as running until it settles. */
export function abandon(
  run: Run,
  call: HandlerCall,
  entry: Entry,
  pending: PromiseLike<unknown>,
  reason: Error,
): void {
  const { services } = run;
  const running: StillRunning = {
    ...authorOf(entry),
    family: run.family,
    sinceMs: services.clock.monotonicMs(),
  };
  services.stillRunning.add(running);
  const settled = (): void => {
    services.stillRunning.delete(running);
  };
  whenSettled(pending, settled, settled);
  HandlerCall.abandon(call, reason);
}

/** Takes a late-coming result; what goes wrong with it (a hostile getter, say) is the handler's failure. */
export function guarded(run: Run, entry: Entry, take: () => boolean): boolean {
  try {
    return take();
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
