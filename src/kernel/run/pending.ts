import { type Entry, nameOf } from '../outcome/entry.js';
import type { Author } from '../outcome/outcome.js';
import { whenSettled } from '../value/thenable.js';
import type { HandlerCall } from './services/call.js';
import type { Plan } from './services/plan.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Run } from './state/run.js';
import { stopAborted } from './stop.js';
import { abandon, guarded, type Resume, timeStep, Wait } from './wait.js';

/** The observers of one dispatch that returned promises. */
export class Pending extends Wait {
  readonly #plan: Plan;
  readonly #resume: Resume;
  /** By place in the plan: the calls of the handlers that have not settled. */
  readonly #calls: (HandlerCall | undefined)[];
  /** Those that were given up, by their place in the plan. */
  #running: Map<number, StillRunning> | undefined = undefined;
  #left = 0;
  #shortestMs = Number.POSITIVE_INFINITY;

  constructor(run: Run, plan: Plan, resume: Resume) {
    super(run);
    this.#plan = plan;
    this.#resume = resume;
    this.#calls = new Array<HandlerCall | undefined>(plan.size);
  }

  add(at: number, promise: PromiseLike<unknown>, call: HandlerCall, beganMs: number): void {
    const { run } = this;
    const { timeoutMs } = this.#plan.entries[at] as Entry;
    this.#calls[at] = call;
    if (timeoutMs < this.#shortestMs) this.#shortestMs = timeoutMs;
    this.#left++;
    run.call = undefined; // the one it was called with is its own from here on
    whenSettled(
      promise,
      (value) => this.#fulfilled(at, value, beganMs),
      (reason) => this.#rejected(at, reason, beganMs),
    );
  }

  /** Starts to wait. `false`: there is something to wait for. */
  begin(): false {
    this.open(this.#shortestMs);
    return false;
  }

  protected get handlerMs(): number {
    return this.#shortestMs;
  }

  #fulfilled(at: number, value: unknown, beganMs: number): void {
    const { run } = this;
    const { steps } = run;
    if (this.#calls[at] === undefined) {
      late(run, this.#entryOf(at), this.#running?.get(at), 'fulfilled');
      return;
    }
    if (value !== undefined || steps !== undefined) {
      guarded(run, this.#entryOf(at), at, value);
      if (steps !== undefined) timeStep(run, beganMs);
    }
    this.#settled(at);
  }

  #rejected(at: number, reason: unknown, beganMs: number): void {
    const { run } = this;
    if (this.#calls[at] === undefined) {
      late(run, this.#entryOf(at), this.#running?.get(at), 'rejected', reason);
      return;
    }
    failed(run, this.#entryOf(at), 'threw', reason);
    if (run.steps !== undefined) timeStep(run, beganMs);
    this.#settled(at);
  }

  /** Gives up on the handlers whose time is up, on all of them once the stage's is. */
  protected deadline(nowMs: number): void {
    if (this.isSpent(nowMs))
      this.#giveUp(
        'timed-out',
        () => `the stage's budget of ${this.#plan.stageTimeoutMs} ms was spent`,
      );
    else this.#giveUp('timed-out', (ms) => `it took longer than ${ms} ms`, nowMs);
    if (this.#left === 0) {
      this.#end();
      return;
    }
    this.#shortestMs = Math.min(...this.waitsFor().map(({ timeoutMs }) => timeoutMs));
  }

  abort(): void {
    this.#giveUp('aborted', () => 'the dispatch was aborted');
    if (this.run.stopped === undefined) stopAborted(this.run, this.#plan.size);
    this.#end();
  }

  waitsFor(): readonly Entry[] {
    return this.#calls.flatMap((call, at) => (call === undefined ? [] : [this.#entryOf(at)]));
  }

  #entryOf(at: number): Entry {
    return this.#plan.entries[at] as Entry;
  }

  #deadlineOf(at: number): number {
    return (this.began?.ms ?? 0) + this.#entryOf(at).timeoutMs;
  }

  #settled(at: number): void {
    this.#calls[at] = undefined;
    this.run.services.deadlines.waitEnded();
    if (--this.#left === 0) this.#end();
  }

  #end(): void {
    this.shut();
    this.#inRunOrder();
    this.#resume(this.run, this.#plan, this.#plan.size);
  }

  /** Sorts failures and steps by the order of the plan, whatever settled first (spec §4.2). */
  #inRunOrder(): void {
    const { failures, steps } = this.run;
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
    this.#calls.forEach((call, at) => {
      if (call === undefined || this.#deadlineOf(at) > dueMs) return;
      const entry = this.#entryOf(at);
      const reason = new Error(`${why(entry.timeoutMs)}; its result, should it come, is dropped`);
      this.#calls[at] = undefined;
      this.#left--;
      this.#running ??= new Map();
      this.#running.set(at, abandon(this.run, call, entry, reason));
      failed(this.run, entry, kind, reason);
    });
  }
}
