import type { Entry } from '../outcome/entry.js';
import { whenSettled } from '../value/thenable.js';
import { runSequential, type WaitFor } from './sequential.js';
import type { HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Run } from './state/run.js';
import { stop, stopAborted, stopSpent } from './stop.js';
import { abandon, guarded, type Resume, timeStep, Wait } from './wait.js';

/** How a sequential plan waits: `resume` is called when it is done. */
export function waitingFor(resume: Resume): WaitFor {
  return (run, plan, at, pending, call) => {
    const wait =
      run.wait instanceof SequentialWait ? run.wait : new SequentialWait(run, plan, call, resume);
    wait.begin(plan, at, pending, call);
  };
}

/**
 * The waits of a sequential plan, one after the other: each until its handler settles, its time is up, or the
 * dispatch is aborted, whichever is first. One pair of callbacks serves them all, since one handler is waited for at a time;
 * after a handler was given up the pair is left to it, and another takes its place.
 */
export class SequentialWait extends Wait {
  readonly #resume: Resume;
  #plan: Plan;
  #at = 0;
  /** The call of the handler that is waited for. */
  #call: HandlerCall;
  #callbacks: Callbacks;

  constructor(run: Run, plan: Plan, call: HandlerCall, resume: Resume) {
    super(run);
    this.#plan = plan;
    this.#call = call;
    this.#resume = resume;
    this.#callbacks = new Callbacks(this);
  }

  /** Waits for the handler that a plan stopped at, and goes on with those after it. */
  begin(plan: Plan, at: number, pending: PromiseLike<unknown>, call: HandlerCall): void {
    this.#plan = plan;
    this.#at = at;
    this.#call = call;
    const { settled, rejected } = this.#callbacks;
    this.open(this.handlerMs);
    whenSettled(pending, settled, rejected); // after an abort within `open` they are the late ones
  }

  protected get handlerMs(): number {
    return this.#entry.timeoutMs;
  }

  get #entry(): Entry {
    return this.#plan.entries[this.#at] as Entry;
  }

  settled(value: unknown): void {
    const { run } = this;
    this.shut();
    this.#goOn(guarded(run, this.#entry, run.rechecking ? -1 : this.#at, value));
  }

  rejected(reason: unknown): void {
    this.shut();
    this.#goOn(failed(this.run, this.#entry, 'threw', reason));
  }

  protected deadline(nowMs: number): void {
    const { run } = this;
    const entry = this.#entry;
    const isSpent = this.isSpent(nowMs);
    const budget = isSpent
      ? `the stage's budget of ${this.#plan.stageTimeoutMs} ms was spent`
      : `it took longer than ${entry.timeoutMs} ms`;
    const reason = new Error(`${budget}; its result, should it come, is dropped`);
    this.#giveUp(reason);
    const ends = failed(run, entry, 'timed-out', reason);
    if (ends || !isSpent) {
      this.#goOn(ends);
      return;
    }
    stopSpent(run, this.#plan, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  abort(): void {
    const { run } = this;
    const reason = new Error('the dispatch was aborted');
    this.#giveUp(reason);
    failed(run, this.#entry, 'aborted', reason);
    stopAborted(run, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  waitsFor(): readonly Entry[] {
    return [this.#entry];
  }

  #giveUp(reason: Error): void {
    this.shut();
    this.#callbacks.leaveTo(this.#entry, abandon(this.run, this.#call, this.#entry, reason));
    this.#callbacks = new Callbacks(this);
  }

  /** Goes on with the handlers after the one that was waited for. */
  #goOn(ends: boolean): void {
    const { run } = this;
    if (run.steps !== undefined) timeStep(run, run.beganMs);
    if (ends) stop(run, this.#at);
    else if (!runSequential(run, this.#plan, this.#at + 1, waitAgain)) return;
    this.#resume(run, this.#plan, this.#plan.size);
  }
}

/** The wait of the run goes on with another handler. */
const waitAgain: WaitFor = (run, plan, at, pending, call) => {
  (run.wait as SequentialWait).begin(plan, at, pending, call); // opened by the first wait
};

/** A pair of callbacks, and the handler that it was left to. */
class Callbacks {
  readonly #run: Run;
  #late: { readonly entry: Entry; readonly running: StillRunning } | undefined = undefined;
  readonly settled: (value: unknown) => void;
  readonly rejected: (reason: unknown) => void;

  constructor(wait: SequentialWait) {
    this.#run = wait.run;
    this.settled = (value) => {
      if (this.#late === undefined) wait.settled(value);
      else late(this.#run, this.#late.entry, this.#late.running, 'fulfilled');
    };
    this.rejected = (reason) => {
      if (this.#late === undefined) wait.rejected(reason);
      else late(this.#run, this.#late.entry, this.#late.running, 'rejected', reason);
    };
  }

  /** The handler that was waited for is late from here on. */
  leaveTo(entry: Entry, running: StillRunning): void {
    this.#late = { entry, running };
  }
}
