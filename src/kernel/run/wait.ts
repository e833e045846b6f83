import { authorOf, type Entry } from '../outcome/entry.js';
import { accept, wrote } from './accept.js';
import { abandonCall, type HandlerCall } from './services/call.js';
import type { CallbackPair, Waiter } from './services/callbacks.js';
import type { Moment } from './services/deadlines.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Run, RunWait } from './state/run.js';

/** Goes on with a dispatch, once the handlers of its plan have settled. */
export type Resume = (run: Run) => void;

/**
 * The waits of one dispatch: it is made at the first, and the kernel's deadlines hold it until the dispatch ends. Its classes
 * have no base class: V8 calls the constructor of a derived class, where it inlines others (30 ns of each dispatch).
 */
export interface Wait extends RunWait {
  began: Moment | undefined;
  /** §10.3: the stage's budget is counted from the first wait. */
  stageBegan: Moment | undefined;
  /** Hears that the caller has aborted. */
  handleEvent(): void;
}

/**
 * When a wait has to be looked at; never while it does not wait.
 *
 * @param handlerMs from when it began until a handler's time is up.
 */
export function deadlineOf({ began, stageBegan, run }: Wait, handlerMs: number): number {
  if (began === undefined || stageBegan === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(began.ms + handlerMs, stageBegan.ms + run.plan.stageTimeoutMs);
}

/** Returns whether the stage's budget is spent. */
export function isSpent({ stageBegan, run }: Wait, nowMs: number): boolean {
  return stageBegan !== undefined && nowMs >= stageBegan.ms + run.plan.stageTimeoutMs;
}

/** Starts to wait until a deadline, or until the caller aborts. */
export function open(wait: Wait, shortestMs: number): void {
  const { run } = wait;
  const { deadlines } = run.services;
  const { stageTimeoutMs } = run.plan;
  if (run.wait === undefined) {
    run.wait = wait;
    deadlines.add(wait);
  }
  wait.began = deadlines.begin(
    wait.stageBegan === undefined && stageTimeoutMs < shortestMs ? stageTimeoutMs : shortestMs,
  );
  wait.stageBegan ??= wait.began;
  const { signal } = run.terms;
  if (signal === undefined) return;
  if (signal.aborted) {
    wait.abort(); // aborted by the handler that is waited for
    return;
  }
  signal.addEventListener('abort', wait, { once: true });
}

/** Ends the present wait. */
export function shut(wait: Wait): void {
  const { services, terms } = wait.run;
  wait.began = undefined;
  services.deadlines.waitEnded();
  terms.signal?.removeEventListener('abort', wait);
}

/**
 * Gives a handler up: aborts its signal, and lists it as running until it settles. What it reads stays as it is.
 *
 * @returns whether its failure ends the stage.
 */
export function abandon(
  run: Run,
  pair: CallbackPair | undefined,
  entry: Entry,
  kind: 'timed-out' | 'aborted',
  why: string,
): boolean {
  const reason = new Error(`${why}; its result, should it come, is dropped`);
  const { call } = pair ?? {};
  // a call that is gone has settled
  if (pair !== undefined && call !== undefined) {
    const { services } = run;
    const sinceMs = services.clock.monotonicMs();
    const running: StillRunning = { ...authorOf(entry), family: run.family, sinceMs };
    services.stillRunning.add(running);
    pair.waiter = new LateHandler(run, entry, running);
    letGo(run, call);
    abandonCall(call, entry, reason);
  }
  return failed(run, entry, kind, reason);
}

/** Why a handler is given up whose time, or that of its stage, is up. */
export function spentText(plan: Plan, isStageSpent: boolean, { timeoutMs }: Entry): string {
  return isStageSpent
    ? `the stage's budget of ${plan.stageTimeoutMs} ms was spent`
    : `it took longer than ${timeoutMs} ms`;
}

/** A handler that was given up: if its promise settles, it is late. */
class LateHandler implements Waiter {
  readonly #run: Run;
  readonly #entry: Entry;
  readonly #running: StillRunning;

  constructor(run: Run, entry: Entry, running: StillRunning) {
    this.#run = run;
    this.#entry = entry;
    this.#running = running;
  }

  fulfilled(): void {
    late(this.#run, this.#entry, this.#running, 'fulfilled');
  }

  rejected(_place: number, reason: unknown): void {
    late(this.#run, this.#entry, this.#running, 'rejected', reason);
  }
}

/** Leaves a call to a handler that goes on beside the others. */
export function letGo(run: Run, call: HandlerCall): void {
  void call.payload; // as it stands: what the others make of it is not for this one
  run.give(call);
  run.forget();
}

/** Takes a late-coming result; what goes wrong with it (a hostile getter, say) is the handler's failure. */
export function guarded(run: Run, entry: Entry, at: number, result: unknown): boolean {
  try {
    return run.isIntact ? accept(run, entry, at, result) : wrote(run, entry, result);
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
