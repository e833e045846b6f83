import { type Entry, nameOf } from '../outcome/entry.js';
import type { Author } from '../outcome/outcome.js';
import { whenSettled } from '../value/thenable.js';
import type { HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Run } from './state/run.js';
import { stopAborted } from './stop.js';
import { abandon, beginWait, type Cuts, endWait, guarded, type Resume, timeStep } from './wait.js';

/** The observers of one dispatch that returned promises. */
export class Pending implements Cuts {
  readonly #run: Run;
  readonly #plan: Plan;
  readonly #resume: Resume;
  readonly #nowMs: number;
  /** Of the handlers that returned promises: their places in the plan. */
  readonly #ats: number[] = [];
  /** Their calls, until they settle or are given up. */
  readonly #calls: (HandlerCall | undefined)[] = [];
  /** Those that were given up, by their place among the unsettled. */
  #running: Map<number, StillRunning> | undefined;
  #left = 0;
  #earliestMs = Number.POSITIVE_INFINITY;

  constructor(run: Run, plan: Plan, resume: Resume) {
    this.#run = run;
    this.#plan = plan;
    this.#resume = resume;
    this.#nowMs = run.services.clock.monotonicMs();
  }

  add(at: number, promise: PromiseLike<unknown>, beganMs: number): void {
    const run = this.#run;
    const entry = this.#plan.entries[at] as Entry;
    const slot = this.#ats.push(at) - 1;
    this.#calls.push(run.call);
    const deadlineMs = this.#nowMs + entry.timeoutMs;
    if (deadlineMs < this.#earliestMs) this.#earliestMs = deadlineMs;
    this.#left++;
    run.renewCall(); // the one it was called with is its own from here on
    whenSettled(
      promise,
      (value) => {
        if (this.#calls[slot] === undefined)
          return late(run, entry, this.#running?.get(slot), 'fulfilled');
        if (value !== undefined || run.steps !== undefined) {
          guarded(run, entry, at, value);
          if (run.steps !== undefined) timeStep(run, beganMs);
        }
        this.#settled(slot);
      },
      (reason) => {
        if (this.#calls[slot] === undefined)
          return late(run, entry, this.#running?.get(slot), 'rejected', reason);
        failed(run, entry, 'threw', reason);
        if (run.steps !== undefined) timeStep(run, beganMs);
        this.#settled(slot);
      },
    );
  }

  /** Starts to wait. `false`: there is something to wait for. */
  begin(): false {
    beginWait(this.#run, this.#nowMs, this.#earliestMs, this);
    return false;
  }

  /** Gives up on the handlers whose time is up, on all of them once the stage's is. */
  deadline(nowMs: number): void {
    const run = this.#run;
    if (nowMs >= run.stageDeadlineMs)
      this.#giveUp(
        'timed-out',
        () => `the stage's budget of ${this.#plan.stageTimeoutMs} ms was spent`,
      );
    else this.#giveUp('timed-out', (ms) => `it took longer than ${ms} ms`, nowMs);
    if (this.#left === 0) {
      this.#end();
      return;
    }
    let earliest = run.stageDeadlineMs;
    this.#calls.forEach((call, slot) => {
      if (call !== undefined) earliest = Math.min(earliest, this.#deadlineOf(slot));
    });
    run.deadlineMs = earliest;
  }

  abort(): void {
    this.#giveUp('aborted', () => 'the dispatch was aborted');
    if (this.#run.stopped === undefined) stopAborted(this.#run, this.#plan.size);
    this.#end();
  }

  waitsFor(): readonly Entry[] {
    return this.#calls.flatMap((call, slot) => (call === undefined ? [] : [this.#entryOf(slot)]));
  }

  #entryOf(slot: number): Entry {
    return this.#plan.entries[this.#ats[slot] as number] as Entry;
  }

  #deadlineOf(slot: number): number {
    return this.#nowMs + this.#entryOf(slot).timeoutMs;
  }

  #settled(slot: number): void {
    this.#calls[slot] = undefined;
    this.#run.services.deadlines.waitEnded();
    if (--this.#left === 0) this.#end();
  }

  #end(): void {
    endWait(this.#run);
    this.#inRunOrder();
    this.#resume(this.#run, this.#plan, this.#plan.size);
  }

  /** What failed, and the steps, in the order of the plan, whatever settled first (spec §4.2). */
  #inRunOrder(): void {
    const { failures, steps } = this.#run;
    if (failures === undefined && steps === undefined) return;
    const names = this.#plan.entries.map(nameOf);
    const placeOf = ({ extensionId, contributionId }: Partial<Author>): number =>
      extensionId === undefined || contributionId === undefined
        ? names.length
        : names.indexOf(nameOf({ extensionId, contributionId }));
    const byPlace = (left: Partial<Author>, right: Partial<Author>): number =>
      placeOf(left) - placeOf(right);
    failures?.sort(byPlace);
    steps?.sort(byPlace);
  }

  #giveUp(
    kind: 'timed-out' | 'aborted',
    why: (timeoutMs: number) => string,
    dueMs = Number.POSITIVE_INFINITY,
  ): void {
    this.#calls.forEach((call, slot) => {
      if (call === undefined || this.#deadlineOf(slot) > dueMs) return;
      const entry = this.#entryOf(slot);
      const reason = new Error(`${why(entry.timeoutMs)}; its result, should it come, is dropped`);
      this.#calls[slot] = undefined;
      this.#left--;
      this.#running ??= new Map();
      this.#running.set(slot, abandon(this.#run, call, entry, reason));
      failed(this.#run, entry, kind, reason);
    });
  }
}
