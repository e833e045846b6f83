import { gatewayError } from '../../errors.js';
import type { OtherAgentEvent } from '../../protocol/agent-event.js';
import type { EarlyEvents } from './early-events.js';

/** A registered run with its callbacks. */
export interface RegisteredRun<Callback> {
  readonly callback: Callback;
  /** Hears the `agent` events of streams that seed 003 does not name. */
  readonly other: ((event: OtherAgentEvent) => void) | undefined;
  /** The number of the last event that was let through; 0 before the first. */
  lastSeq: number;
}

/**
 * One kind of events, by run: each run has one callback, and nobody takes another's (stream §3).
 *
 * @param deliver gives an event to its run. Does not throw.
 */
export function runCallbacks<Event extends { readonly runId: string }, Callback>(
  kind: 'agent' | 'chat',
  maxRuns: number,
  early: EarlyEvents<Event>,
  deliver: (event: Event, run: RegisteredRun<Callback>) => void,
) {
  const runs = new Map<string, RegisteredRun<Callback>>();

  return {
    size: (): number => runs.size,
    /** The events of runs that are not registered yet. */
    early,

    /** @throws SluiceError `run-registered`, `too-many-runs`. */
    register(runId: string, callback: Callback, other?: (event: OtherAgentEvent) => void): void {
      if (runs.has(runId)) throw gatewayError('run-registered', { runId, kind });
      if (runs.size >= maxRuns)
        throw gatewayError('too-many-runs', { runId, kind, count: maxRuns });
      const run: RegisteredRun<Callback> = { callback, other, lastSeq: 0 };
      runs.set(runId, run);
      for (const event of early.take(runId)) if (runs.get(runId) === run) deliver(event, run);
    },

    /**
     * @param callback if it is given, a run with another callback is left alone.
     *
     * @returns true if the run was registered.
     */
    unregister(runId: string, callback?: Callback): boolean {
      const run = runs.get(runId);
      if (run === undefined || (callback !== undefined && run.callback !== callback)) return false;
      return runs.delete(runId);
    },

    /** @param chars the length of the event's frame. @returns true if the event's run is registered. */
    route(event: Event, chars: number): boolean {
      const run = runs.get(event.runId);
      if (run === undefined) early.keep(event, chars);
      else deliver(event, run);
      return run !== undefined;
    },

    /** Takes every run away. @returns the callbacks, by run. */
    takeAll(): readonly (readonly [runId: string, callback: Callback])[] {
      const all = [...runs].map(([runId, { callback }]) => [runId, callback] as const);
      runs.clear();
      return all;
    },
  };
}
