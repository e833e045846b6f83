import { type Clock, longestTimerMs, type TimerHandle } from '../../stage/ports.js';

/**
 * When waits began. The waits of one turn of the event loop share one, and the clock is read once, at the end of the turn: a
 * deadline can come late by what the turn took, and never early. Until then the time is not known, and is infinite.
 */
export interface Moment {
  ms: number;
}

/** A dispatch that has waited for a handler, and has not ended. The links are the list's own. */
export interface Waiting {
  /** When it has to be looked at, on the monotonic clock; infinite while it does not wait. */
  readonly deadlineMs: number;
  /** Called when the deadline is reached; it may go on to wait, or leave. */
  expire(nowMs: number): void;
  before: Waiting | undefined;
  after: Waiting | undefined;
}

/**
 * Every open dispatch of a kernel under one timer, set to the earliest deadline. A dispatch that waits costs two
 * list operations in all, not a timer for each wait. The timer keeps the process alive only while one is open.
 */
export class Deadlines {
  readonly #clock: Clock;
  #first: Waiting | undefined;
  #timer: TimerHandle | undefined;
  #keepsAlive = false;
  #dueMs = Number.POSITIVE_INFINITY;
  #size = 0;
  #watchers: Set<() => void> | undefined;
  /** The turn that goes on, if a wait has begun in it. */
  #turn: Moment | undefined;
  /** Milliseconds of the shortest wait that began in it. */
  #shortestMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many dispatches are open. */
  get size(): number {
    return this.#size;
  }

  add(waiting: Waiting): void {
    waiting.before = undefined;
    waiting.after = this.#first;
    if (this.#first !== undefined) this.#first.before = waiting;
    this.#first = waiting;
    this.#size++;
  }

  remove(waiting: Waiting): void {
    if (waiting.before !== undefined) waiting.before.after = waiting.after;
    else this.#first = waiting.after;
    if (waiting.after !== undefined) waiting.after.before = waiting.before;
    waiting.before = undefined;
    waiting.after = undefined;
    if (--this.#size === 0) this.#keepAlive(false);
  }

  /**
   * A wait of an open dispatch begins now.
   *
   * @param ms from when on it has to be looked at.
   * @returns the moment, which is known once the turn has ended.
   */
  begin(ms: number): Moment {
    if (ms < this.#shortestMs) this.#shortestMs = ms;
    if (this.#turn !== undefined) return this.#turn;
    const moment: Moment = { ms: Number.POSITIVE_INFINITY };
    this.#turn = moment;
    const end = (): void => this.#endTurn(moment);
    if (this.#clock.afterTurn === undefined) end();
    else this.#clock.afterTurn(end);
    return moment;
  }

  /** A handler that was waited for has settled, or was given up. */
  waitEnded(): void {
    if (this.#watchers !== undefined) for (const told of [...this.#watchers]) told();
  }

  /** Tells of each wait that ends, until it is disposed. */
  watch(told: () => void): Disposable {
    this.#watchers ??= new Set();
    this.#watchers.add(told);
    return {
      [Symbol.dispose]: () => {
        this.#watchers?.delete(told);
        if (this.#watchers?.size === 0) this.#watchers = undefined;
      },
    };
  }

  /** Stops the timer for good. */
  dispose(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  *[Symbol.iterator](): Generator<Waiting> {
    for (let at = this.#first; at !== undefined; ) {
      const next: Waiting | undefined = at.after;
      yield at;
      at = next;
    }
  }

  #endTurn(moment: Moment): void {
    const shortestMs = this.#shortestMs;
    this.#turn = undefined;
    this.#shortestMs = Number.POSITIVE_INFINITY;
    if (this.#size === 0) return; // every wait of the turn has ended in it
    moment.ms = this.#clock.monotonicMs();
    this.#arm(moment.ms + shortestMs, moment.ms);
    this.#keepAlive(true);
  }

  /** Makes sure that a deadline will be noticed. */
  #arm(deadlineMs: number, nowMs: number): void {
    if (deadlineMs >= this.#dueMs) return;
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#dueMs = deadlineMs;
    const leftMs = Math.ceil(deadlineMs - nowMs);
    const delayMs = Math.min(longestTimerMs, Math.max(0, leftMs)); // a sweep that comes early sets the next
    this.#timer = this.#clock.setTimeout(() => this.#sweep(), delayMs);
    this.#keepsAlive = true;
    if (this.#size === 0) this.#keepAlive(false);
  }

  #keepAlive(wanted: boolean): void {
    if (this.#timer === undefined || this.#keepsAlive === wanted) return;
    this.#keepsAlive = wanted;
    if (wanted) this.#timer.ref?.();
    else this.#timer.unref?.();
  }

  #sweep(): void {
    this.#timer = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    for (const waiting of [...this]) if (waiting.deadlineMs <= nowMs) waiting.expire(nowMs);
    let earliest = Number.POSITIVE_INFINITY;
    for (const waiting of this) earliest = Math.min(earliest, waiting.deadlineMs);
    if (earliest < Number.POSITIVE_INFINITY) this.#arm(earliest, this.#clock.monotonicMs());
  }
}
