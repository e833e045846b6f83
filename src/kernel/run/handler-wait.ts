import type { HandlerCall } from './call.js';
import type { Entry } from './entry.js';
import { failed, late } from './failures.js';
import type { Plan } from './plan.js';
import type { Run } from './run.js';
import type { StillRunning } from './services.js';
import { stop, stopAborted, stopSpent } from './stop.js';
import { whenSettled } from './thenable.js';
import { abandon, beginWait, type Cuts, endWait, guarded, type Resume, timeStep } from './wait.js';

/**
 * The wait for one handler of a sequential stage: until it settles, its time is up, or the dispatch is aborted,
 * whichever is first. What comes after that is late.
 */
export class HandlerWait implements Cuts {
  readonly #run: Run;
  readonly #plan: Plan;
  readonly #at: number;
  readonly #beganMs: number;
  readonly #resume: Resume;
  /** The handler's own from here on: those after it get another. */
  readonly #call: HandlerCall;
  #isOpen = true;
  #running: StillRunning | undefined;

  constructor(run: Run, plan: Plan, at: number, beganMs: number, resume: Resume) {
    this.#run = run;
    this.#plan = plan;
    this.#at = at;
    this.#beganMs = beganMs;
    this.#resume = resume;
    this.#call = run.call;
  }

  begin(pending: PromiseLike<unknown>): void {
    whenSettled(
      pending,
      (value) => this.#fulfilled(value),
      (reason) => this.#rejected(reason),
    );
    const nowMs = this.#run.services.clock.monotonicMs();
    beginWait(this.#run, nowMs, nowMs + this.#entry.timeoutMs, this);
  }

  deadline(nowMs: number): void {
    const run = this.#run;
    const entry = this.#entry;
    const isSpent = nowMs >= run.stageDeadlineMs;
    const budget = isSpent
      ? `the stage's budget of ${this.#plan.stageTimeoutMs} ms was spent`
      : `it took longer than ${entry.timeoutMs} ms`;
    const reason = new Error(`${budget}; its result, should it come, is dropped`);
    this.#giveUp(reason);
    const ends = failed(run, entry, 'timed-out', reason);
    if (!isSpent || ends) {
      this.#goOn(ends);
      return;
    }
    stopSpent(run, this.#plan, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  abort(): void {
    const run = this.#run;
    const reason = new Error('the dispatch was aborted');
    this.#giveUp(reason);
    failed(run, this.#entry, 'aborted', reason);
    stopAborted(run, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  get #entry(): Entry {
    return this.#plan.entries[this.#at] as Entry;
  }

  #fulfilled(value: unknown): void {
    const run = this.#run;
    const entry = this.#entry;
    if (!this.#isOpen) {
      late(run, entry, this.#running, 'fulfilled');
      return;
    }
    this.#close();
    this.#goOn(guarded(run, entry, run.rechecking ? -1 : this.#at, value));
  }

  #rejected(reason: unknown): void {
    if (!this.#isOpen) {
      late(this.#run, this.#entry, this.#running, 'rejected', reason);
      return;
    }
    this.#close();
    this.#goOn(failed(this.#run, this.#entry, 'threw', reason));
  }

  #close(): void {
    this.#isOpen = false;
    endWait(this.#run);
  }

  #giveUp(reason: Error): void {
    this.#close();
    this.#running = abandon(this.#run, this.#call, this.#entry, reason);
  }

  #goOn(ends: boolean): void {
    const run = this.#run;
    if (run.steps !== undefined) timeStep(run, this.#beganMs);
    if (run.call === this.#call) run.renewCall();
    if (ends) stop(run, this.#at);
    this.#resume(run, this.#plan, ends ? this.#plan.size : this.#at + 1);
  }
}
