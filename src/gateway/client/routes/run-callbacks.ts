import { gatewayError } from '../../errors.js';
import type { EarlyEvents } from './early-events.js';

/** A run that is registered, and what it wants to be told. */
export interface RegisteredRun<Callback> {
  readonly callback: Callback;
  /** The number of the last event that was let through; 0 before the first. */
  lastSeq: number;
}

/** How one kind of events reaches its runs. */
interface RunCallbacksOptions<Event, Callback> {
  readonly kind: 'agent' | 'chat';
  readonly maxRuns: number;
  readonly early: EarlyEvents<Event & { readonly runId: string }>;
  /** Gives an event to its run. Does not throw. */
  readonly deliver: (event: Event, run: RegisteredRun<Callback>) => void;
}

/** One kind of events, by run: each run has one callback, and nobody takes another's (stream §3). */
export class RunCallbacks<Event extends { readonly runId: string }, Callback> {
  readonly #runs = new Map<string, RegisteredRun<Callback>>();
  readonly #with: RunCallbacksOptions<Event, Callback>;

  constructor(options: RunCallbacksOptions<Event, Callback>) {
    this.#with = options;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** @throws SluiceError `run-registered`, `too-many-runs`. */
  register(runId: string, callback: Callback): void {
    const { kind, maxRuns, early, deliver } = this.#with;
    if (this.#runs.has(runId)) throw gatewayError('run-registered', { runId, kind });
    if (this.#runs.size >= maxRuns)
      throw gatewayError('too-many-runs', { runId, kind, count: maxRuns });
    const run: RegisteredRun<Callback> = { callback, lastSeq: 0 };
    this.#runs.set(runId, run);
    for (const event of early.take(runId)) if (this.#runs.get(runId) === run) deliver(event, run);
  }

  /** @param isOwn whether a run is the caller's; one of another's is left alone. @returns whether it was taken away. */
  unregister(runId: string, isOwn: (callback: Callback) => boolean): boolean {
    const run = this.#runs.get(runId);
    if (run === undefined || !isOwn(run.callback)) return false;
    return this.#runs.delete(runId);
  }

  /** @param chars the length of the event's frame. @returns whether its run is registered. */
  route(event: Event, chars: number): boolean {
    const run = this.#runs.get(event.runId);
    if (run === undefined) this.#with.early.keep(event, chars);
    else this.#with.deliver(event, run);
    return run !== undefined;
  }

  /** Takes every run away, each to be told why. */
  takeAll(): readonly (readonly [runId: string, callback: Callback])[] {
    const all = [...this.#runs].map(([runId, { callback }]) => [runId, callback] as const);
    this.#runs.clear();
    return all;
  }
}
