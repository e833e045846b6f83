import type { Entry } from '../outcome/entry.js';
import { runSequential } from './sequential.js';
import type { HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Cuts, Run } from './state/run.js';
import { stop, stopAborted, stopSpent } from './stop.js';
import { abandon, beginWait, endWait, guarded, type Resume, timeStep } from './wait.js';

/**
 * The waits of a sequential plan, one after the other: each until its handler settles, its time is up, or the
 * dispatch is aborted, whichever is first. One loop awaits them all; a handler that is given up keeps its loop, which
 * then only sees it settle late, and another loop goes on.
 */
export class SequentialWait implements Cuts {
  readonly #run: Run;
  readonly #plan: Plan;
  readonly #resume: Resume;
  /** Which wait is on: what settles for another is late. */
  #ticket = 0;
  #at = 0;
  #call: HandlerCall;
  #beganMs = 0;
  #givenUp: Map<number, StillRunning> | undefined;

  constructor(run: Run, plan: Plan, resume: Resume) {
    this.#run = run;
    this.#plan = plan;
    this.#resume = resume;
    this.#call = run.call;
  }

  /** Waits for the handler that the run stopped at, and for those after it. */
  async begin(): Promise<void> {
    const run = this.#run;
    for (;;) {
      const at = run.pendingAt;
      const entry = this.#plan.entries[at] as Entry;
      const ticket = this.#open(at, entry);
      let ends: boolean;
      try {
        const value = await run.pending; // of a thenable only the first settlement counts, whatever it does
        if (ticket !== this.#ticket) {
          late(run, entry, this.#givenUp?.get(ticket), 'fulfilled');
          return;
        }
        endWait(run);
        ends = guarded(run, entry, run.rechecking ? -1 : at, value);
      } catch (reason) {
        if (ticket !== this.#ticket) {
          late(run, entry, this.#givenUp?.get(ticket), 'rejected', reason);
          return;
        }
        endWait(run);
        ends = failed(run, entry, 'threw', reason);
      }
      if (this.#isDone(ends)) return;
    }
  }

  deadline(nowMs: number): void {
    const run = this.#run;
    const entry = this.#plan.entries[this.#at] as Entry;
    const isSpent = nowMs >= run.stageDeadlineMs;
    const budget = isSpent
      ? `the stage's budget of ${this.#plan.stageTimeoutMs} ms was spent`
      : `it took longer than ${entry.timeoutMs} ms`;
    const reason = new Error(`${budget}; its result, should it come, is dropped`);
    this.#giveUp(entry, reason);
    const ends = failed(run, entry, 'timed-out', reason);
    if (ends || !isSpent) {
      if (!this.#isDone(ends)) void this.begin();
      return;
    }
    stopSpent(run, this.#plan, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  abort(): void {
    const run = this.#run;
    const entry = this.#plan.entries[this.#at] as Entry;
    const reason = new Error('the dispatch was aborted');
    this.#giveUp(entry, reason);
    failed(run, entry, 'aborted', reason);
    stopAborted(run, this.#at + 1);
    this.#resume(run, this.#plan, this.#plan.size);
  }

  waitsFor(): readonly Entry[] {
    return [this.#plan.entries[this.#at] as Entry];
  }

  #open(at: number, entry: Entry): number {
    const run = this.#run;
    this.#at = at;
    this.#call = run.call; // the handler's own from here on: those after it get another
    this.#beganMs = run.pendingBeganMs;
    const ticket = ++this.#ticket;
    const nowMs = run.services.clock.monotonicMs();
    beginWait(run, nowMs, nowMs + entry.timeoutMs, this);
    return ticket;
  }

  #giveUp(entry: Entry, reason: Error): void {
    endWait(this.#run);
    this.#givenUp ??= new Map();
    this.#givenUp.set(this.#ticket, abandon(this.#run, this.#call, entry, reason));
    this.#ticket++;
  }

  /** Goes on with the handlers after the one that was waited for; `false` where it has to wait again. */
  #isDone(ends: boolean): boolean {
    const run = this.#run;
    if (run.steps !== undefined) timeStep(run, this.#beganMs);
    if (run.call === this.#call) run.renewCall();
    if (ends) stop(run, this.#at);
    else if (!runSequential(run, this.#plan, this.#at + 1)) return false;
    this.#resume(run, this.#plan, this.#plan.size);
    return true;
  }
}
