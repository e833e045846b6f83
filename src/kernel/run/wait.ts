import { authorOf, type Entry } from '../outcome/entry.js';
import { accept, wrote } from './accept.js';
import { abandonCall, type HandlerCall } from './services/call.js';
import type { CallbackPair, Waiter } from './services/callbacks.js';
import type { Moment, Waiting } from './services/deadlines.js';
import type { StillRunning } from './services/services.js';
import { failed, late } from './state/failures.js';
import type { Run, RunWait } from './state/run.js';

/** Goes on with a dispatch, once the handlers of its plan have settled. */
export type Resume = (run: Run) => void;

/** The waits of one dispatch: it is made at the first, and the kernel's deadlines hold it until the dispatch ends. */
export abstract class Wait implements Waiting, RunWait {
  readonly run: Run;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  /** When the present wait began; absent while it does not wait. */
  protected began: Moment | undefined = undefined;
  /** §10.3: the stage's budget is counted from the first wait. */
  #stageBegan: Moment | undefined = undefined;

  constructor(run: Run) {
    this.run = run;
  }

  /** Milliseconds from when the present wait began until a handler's time is up. */
  protected abstract get handlerMs(): number;
  /** The deadline is reached: it ends the wait, or goes on with what is left. */
  protected abstract deadline(nowMs: number): void;
  /** The caller has aborted, or the kernel closes: it ends the wait. */
  abstract abort(): void;
  /** The handlers that have not settled. */
  abstract waitsFor(): readonly Entry[];

  get isOn(): boolean {
    return this.began !== undefined;
  }

  get sinceMs(): number | undefined {
    return this.began?.ms;
  }

  get deadlineMs(): number {
    const stageBegan = this.#stageBegan;
    if (this.began === undefined || stageBegan === undefined) return Number.POSITIVE_INFINITY;
    return Math.min(this.began.ms + this.handlerMs, stageBegan.ms + this.run.plan.stageTimeoutMs);
  }

  /** Hears that the caller has aborted. */
  handleEvent(): void {
    this.abort();
  }

  expire(nowMs: number): void {
    if (this.isOn) this.deadline(nowMs);
  }

  protected isSpent(nowMs: number): boolean {
    const { plan } = this.run;
    return this.#stageBegan !== undefined && nowMs >= this.#stageBegan.ms + plan.stageTimeoutMs;
  }

  /** Starts to wait until a deadline, or until the caller aborts. */
  protected open(shortestMs: number): void {
    const { run } = this;
    const { deadlines } = run.services;
    const { stageTimeoutMs } = run.plan;
    if (run.wait === undefined) {
      run.wait = this;
      deadlines.add(this);
    }
    this.began = deadlines.begin(
      this.#stageBegan === undefined && stageTimeoutMs < shortestMs ? stageTimeoutMs : shortestMs,
    );
    this.#stageBegan ??= this.began;
    const { signal } = run.terms;
    if (signal === undefined) return;
    if (signal.aborted) {
      this.abort(); // aborted by the handler that is waited for
      return;
    }
    signal.addEventListener('abort', this, { once: true });
  }

  /** Ends the wait. */
  protected shut(): void {
    const { services, terms } = this.run;
    this.began = undefined;
    services.deadlines.waitEnded();
    terms.signal?.removeEventListener('abort', this);
  }
}

/** Gives a handler up: aborts its signal, and lists it as running until it settles. What it reads stays as it is. */
export function abandon(run: Run, pair: CallbackPair, entry: Entry, reason: Error): void {
  const { call } = pair;
  if (call === undefined) return; // it has settled
  const { services } = run;
  const sinceMs = services.clock.monotonicMs();
  const running: StillRunning = { ...authorOf(entry), family: run.family, sinceMs };
  services.stillRunning.add(running);
  pair.waiter = new LateHandler(run, entry, running);
  letGo(run, call);
  abandonCall(call, entry, reason);
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
