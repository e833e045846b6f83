import { type Entry, nameOf, ownerOf } from '../outcome/entry.js';
import type { Author } from '../outcome/outcome.js';
import type { HandlerCall } from './services/call.js';
import type { CallbackPair, Waiter } from './services/callbacks.js';
import type { Moment, Waiting } from './services/deadlines.js';
import type { Plan } from './services/plan.js';
import { failed } from './state/failures.js';
import type { Run } from './state/run.js';
import { stopAborted } from './stop.js';
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

/** The observers of one dispatch that returned promises. */
export class Pending implements Wait, Waiter {
  readonly run: Run;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  began: Moment | undefined = undefined;
  stageBegan: Moment | undefined = undefined;
  readonly #plan: Plan;
  readonly #resume: Resume;
  /** By place in the plan: the callbacks of the handlers that have not settled. */
  readonly #pairs: (CallbackPair | undefined)[];
  /** When the handlers were called, if that is written down. */
  readonly #beganMs: number[] | undefined;
  #left = 0;
  /** While it tells of failures, a listener may abort the dispatch: that waits until all is told. */
  #state: 'waits' | 'tells' | 'is-aborted' = 'waits';
  #shortestMs = Number.POSITIVE_INFINITY;

  constructor(run: Run, plan: Plan, resume: Resume) {
    this.run = run;
    this.#plan = plan;
    this.#resume = resume;
    this.#pairs = new Array<CallbackPair | undefined>(plan.size);
    this.#beganMs = run.steps === undefined ? undefined : [];
  }

  add(at: number, promise: PromiseLike<unknown>, call: HandlerCall, beganMs: number): void {
    const { run } = this;
    const { timeoutMs } = this.#plan.entries[at] as Entry;
    if (timeoutMs < this.#shortestMs) this.#shortestMs = timeoutMs;
    this.#left++;
    run.call = undefined; // the one it was called with is its own from here on
    this.#pairs[at] = run.services.callbacks.wait(promise, this, at, call);
    if (this.#beganMs !== undefined) this.#beganMs[at] = beganMs;
  }

  /** Starts to wait. `false`: there is something to wait for. */
  begin(): false {
    open(this, this.#shortestMs);
    return false;
  }

  get deadlineMs(): number {
    return deadlineOf(this, this.#shortestMs);
  }

  fulfilled(at: number, value: unknown): void {
    const { run } = this;
    this.#pairs[at] = undefined; // its pair serves another from here on
    this.#state = 'tells';
    if (value !== undefined || run.steps !== undefined) guarded(run, this.#entryOf(at), at, value);
    this.#settled(at);
  }

  rejected(at: number, reason: unknown): void {
    this.#pairs[at] = undefined; // as above
    this.#state = 'tells';
    failed(this.run, this.#entryOf(at), 'threw', reason);
    this.#settled(at);
  }

  /** Gives up on the handlers whose time is up, on all of them once the stage's is. */
  expire(nowMs: number): void {
    if (this.began === undefined) return;
    this.#state = 'tells';
    const isStageSpent = isSpent(this, nowMs);
    const why = (entry: Entry) => spentText(this.#plan, isStageSpent, entry);
    this.#giveUp('timed-out', why, isStageSpent ? undefined : nowMs);
    this.#shortestMs = Math.min(...this.waitsFor().map(({ timeoutMs }) => timeoutMs));
    this.#goOn();
  }

  abort(): void {
    if (this.#state !== 'waits') {
      this.#state = 'is-aborted';
      return;
    }
    this.#state = 'tells';
    this.#giveUp('aborted', () => 'the dispatch was aborted');
    if (this.run.stopped === undefined) stopAborted(this.run, this.#plan.size);
    this.#end();
  }

  handleEvent(): void {
    this.abort();
  }

  waitsFor(): readonly Entry[] {
    return this.#pairs.flatMap((pair, at) => (pair === undefined ? [] : [this.#entryOf(at)]));
  }

  #entryOf(at: number): Entry {
    return this.#plan.entries[at] as Entry;
  }

  #deadlineOf(at: number): number {
    return (this.began?.ms ?? 0) + this.#entryOf(at).timeoutMs;
  }

  #settled(at: number): void {
    if (this.#beganMs !== undefined) timeStep(this.run, this.#beganMs[at] ?? 0);
    this.run.services.deadlines.waitEnded();
    this.#left--;
    this.#goOn();
  }

  /** Goes on when all is told: it ends, waits on, or gives up the rest. */
  #goOn(): void {
    const isAborted = this.#state === 'is-aborted';
    this.#state = 'waits';
    if (this.#left === 0) this.#end();
    else if (isAborted) this.abort();
  }

  #end(): void {
    shut(this);
    this.#inRunOrder();
    this.#resume(this.run);
  }

  /** Sorts failures and steps by the order of the plan, whatever settled first (spec §4.2). */
  #inRunOrder(): void {
    const { failures, steps } = this.run;
    if (failures === undefined && steps === undefined) return;
    const names = this.#plan.entries.map(nameOf);
    const placeOf = (one: Partial<Author>): number => {
      const owner = ownerOf(one);
      return owner === undefined ? names.length : names.indexOf(owner);
    };
    const byPlace = (left: Partial<Author>, right: Partial<Author>): number =>
      placeOf(left) - placeOf(right);
    failures?.sort(byPlace);
    steps?.sort(byPlace);
  }

  #giveUp(
    kind: 'timed-out' | 'aborted',
    why: (entry: Entry) => string,
    dueMs = Number.POSITIVE_INFINITY,
  ): void {
    this.#pairs.forEach((pair, at) => {
      if (pair === undefined || this.#deadlineOf(at) > dueMs) return;
      const entry = this.#entryOf(at);
      this.#pairs[at] = undefined;
      this.#left--;
      abandon(this.run, pair, entry, kind, why(entry));
    });
  }
}
