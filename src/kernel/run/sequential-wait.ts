import type { Entry } from '../outcome/entry.js';
import { runSequential, type WaitFor } from './sequential.js';
import type { HandlerCall } from './services/call.js';
import type { CallbackPair, Waiter } from './services/callbacks.js';
import type { Moment, Waiting } from './services/deadlines.js';
import type { Plan } from './services/plan.js';
import { failed } from './state/failures.js';
import type { Run } from './state/run.js';
import { stop, stopAborted, stopSpent } from './stop.js';
import {
  abandon,
  deadlineOf,
  guarded,
  isSpent,
  open,
  type Resume,
  shut,
  spentText,
  timeStep,
  type Wait,
} from './wait.js';

/** How a sequential plan waits: `resume` is called when it is done. */
export function waitingFor(resume: Resume): WaitFor {
  return (run, plan, at, pending, call) => {
    const wait =
      run.wait instanceof SequentialWait ? run.wait : new SequentialWait(run, plan, resume);
    wait.begin(plan, at, pending, call);
  };
}

/**
 * The waits of a sequential plan, one after the other: each until its handler settles, its time is up, or the
 * dispatch is aborted, whichever is first.
 */
export class SequentialWait implements Wait, Waiter {
  readonly run: Run;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  began: Moment | undefined = undefined;
  stageBegan: Moment | undefined = undefined;
  readonly #resume: Resume;
  #plan: Plan;
  #at = 0;
  #pair: CallbackPair | undefined = undefined;

  constructor(run: Run, plan: Plan, resume: Resume) {
    this.run = run;
    this.#plan = plan;
    this.#resume = resume;
  }

  /** Waits for the handler that a plan stopped at, and goes on with those after it. */
  begin(plan: Plan, at: number, pending: PromiseLike<unknown>, call: HandlerCall): void {
    this.#plan = plan;
    this.#at = at;
    this.#pair = this.run.services.callbacks.wait(pending, this, at, call);
    open(this, this.#entry().timeoutMs);
  }

  #entry(): Entry {
    return this.#plan.entries[this.#at] as Entry;
  }

  fulfilled(at: number, value: unknown): void {
    const { run } = this;
    shut(this);
    this.#goOn(guarded(run, this.#entry(), run.rechecking ? -1 : at, value));
  }

  rejected(_at: number, reason: unknown): void {
    shut(this);
    this.#goOn(failed(this.run, this.#entry(), 'threw', reason));
  }

  get deadlineMs(): number {
    return deadlineOf(this, this.#entry().timeoutMs);
  }

  expire(nowMs: number): void {
    if (this.began === undefined) return;
    const { run } = this;
    const isStageSpent = isSpent(this, nowMs);
    const ends = this.#giveUp('timed-out', spentText(this.#plan, isStageSpent, this.#entry()));
    if (ends || !isStageSpent) {
      this.#goOn(ends);
      return;
    }
    stopSpent(run, this.#plan, this.#at + 1);
    this.#resume(run);
  }

  abort(): void {
    const { run } = this;
    this.#giveUp('aborted', 'the dispatch was aborted');
    stopAborted(run, this.#at + 1);
    this.#resume(run);
  }

  handleEvent(): void {
    this.abort();
  }

  waitsFor(): readonly Entry[] {
    return [this.#entry()];
  }

  #giveUp(kind: 'timed-out' | 'aborted', why: string): boolean {
    shut(this);
    return abandon(this.run, this.#pair, this.#entry(), kind, why);
  }

  /** Goes on with the handlers after the one that was waited for. */
  #goOn(ends: boolean): void {
    const { run } = this;
    if (run.steps !== undefined) timeStep(run, run.beganMs);
    if (ends) stop(run, this.#at);
    else if (!runSequential(run, this.#plan, this.#at + 1, waitAgain)) return;
    this.#resume(run);
  }
}

/** The wait of the run goes on with another handler. */
const waitAgain: WaitFor = (run, plan, at, pending, call) => {
  (run.wait as SequentialWait).begin(plan, at, pending, call); // opened by the first wait
};
