import { systemClock } from '../../kernel/index.js';
import type { SessionEvent, SubagentFact } from '../../stream/index.js';
import { traceEvent } from '../../stream/internal.js';
import { type Arrival, arrivalsOf, type Frames } from '../frames/arrivals.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import { refuse } from '../ordering/check-ordering.js';
import { orderingChecker } from '../ordering/ordering-checker.js';
import type { NormalizeOptions } from '../session/normalize-options.js';
import { diagnosticTeller } from '../session/session-diagnostic.js';
import { sessionNormalizer } from '../session/session-normalizer.js';
import { factsOfCallback, factsOfFrame } from '../subagents/subagent-facts.js';

/** The default time that `end: 'idle'` waits for another turn. */
const defaultIdleTimeoutMs = 60_000;

/** The options for reading a run. */
export interface ReadingOptions extends NormalizeOptions {
  /** Is told each frame before anything that becomes of it. */
  readonly onFrame?: (frame: CsdkFrame) => void;
}

/**
 * Reads one run, one event at a time. An event that needs no wait comes without a promise, so that a reader pays for
 * the waits of its source and for nothing else.
 */
export function sessionReading(messages: Frames, options: ReadingOptions) {
  const events: SessionEvent[] = [];
  let told = 0;
  /** Facts about subagents that are told when the events before them were taken. */
  const facts: SubagentFact[] = [];
  let waited = 0;
  const { callbacks, signal, clock = systemClock, onFrame, onSubagent, logger } = options;
  const { runId, sessionId, idleTimeoutMs = defaultIdleTimeoutMs } = options;
  const arrivals = arrivalsOf({ messages, callbacks, signal, clock });
  const tell = diagnosticTeller(options.onDiagnostic);
  const checker = options.check === true ? orderingChecker() : undefined;
  let known = sessionId;
  const run = sessionNormalizer(
    options,
    (event) => events.push(event),
    tell,
    (fact) => (events.length === 0 ? onSubagent?.(fact) : facts.push(fact)),
  );

  /** The next event behind an arrival. One promise is held, however many arrivals become no event. */
  async function nextAfter(first: Promise<Arrival>): Promise<SessionEvent | undefined> {
    let next: Arrival | Promise<Arrival> | undefined = first;
    for (;;) {
      const arrival: Arrival | undefined = next instanceof Promise ? await next : next;
      if (arrival === undefined || !take(arrival)) return undefined;
      const event = ready();
      if (event !== undefined) return event;
      next = arriving();
    }
  }

  /** The next event of the arrivals that were taken. */
  function ready(): SessionEvent | undefined {
    const event = events[told];
    if (event !== undefined) {
      told++;
      watch(event);
      return event;
    }
    events.length = 0;
    told = 0;
    return undefined;
  }

  /** The next arrival, or nothing if the run has ended. All events before it were taken. */
  function arriving(): Arrival | Promise<Arrival> | undefined {
    if (run.ended) {
      if (checker !== undefined) refuse(checker.finish());
      return undefined;
    }
    eventsTaken();
    return arrivals.next();
  }

  function watch(event: SessionEvent): void {
    if (logger !== undefined) traceEvent(logger, { runId, sessionId: known }, event);
    if (checker !== undefined) refuse(checker.take(event));
  }

  function eventsTaken(): void {
    if (facts.length > 0) for (const fact of facts.splice(0)) onSubagent?.(fact);
    const { wait } = run;
    if (wait === waited) return;
    waited = wait;
    arrivals.wakeAfter(wait === 0 ? undefined : idleTimeoutMs);
  }

  /** Reads an arrival. @returns false if the reader has left. */
  function take(arrival: Arrival): boolean {
    switch (arrival.kind) {
      case 'frame':
        if (isFields(arrival.frame)) see(arrival.frame);
        run.take(arrival.frame);
        return true;
      case 'callback':
        if (onSubagent !== undefined)
          for (const fact of factsOfCallback(arrival.callback)) onSubagent(fact);
        run.callback(arrival.callback);
        return true;
      case 'ended':
        run.sourceEnded();
        return true;
      case 'threw': // the SDK's AbortError is called "Error": the signal tells
        if (signal?.aborted === true || isAbortError(arrival.error)) run.abort();
        else run.sourceThrew(arrival.error);
        return true;
      case 'callbacksFailed':
        tell({ kind: 'callbacks_failed', error: arrival.error });
        return true;
      case 'aborted':
        run.abort();
        return true;
      case 'timedOut':
        run.idleTimedOut();
        return true;
      case 'left':
      case 'closed':
        return false;
    }
  }

  /** The facts of subagents are told before the events that the frame becomes. */
  function see(frame: CsdkFrame): void {
    onFrame?.(frame);
    if (logger !== undefined) known = sessionId ?? textField(frame, 'session_id') ?? known;
    if (onSubagent !== undefined) for (const fact of factsOfFrame(frame)) onSubagent(fact);
  }

  return {
    /**
     * The next event, or nothing at the end. One call at a time.
     *
     * @throws `session-out-of-order` if `check` is on and the event breaks the order.
     */
    next(): SessionEvent | undefined | Promise<SessionEvent | undefined> {
      for (;;) {
        const event = ready();
        if (event !== undefined) return event;
        const arrival = arriving();
        if (arrival instanceof Promise) return nextAfter(arrival);
        if (arrival === undefined || !take(arrival)) return undefined;
      }
    },
    /** Wakes the reader that waits: the run is over for it. */
    close: arrivals.close,
    /** Lets go of both sources, once. */
    async release(): Promise<void> {
      const failed = await arrivals.release();
      if (failed !== undefined) tell({ kind: 'source_failed', error: failed.error });
    },
  };
}

/** The parts of `sessionReading` that others use. */
export type SessionReading = ReturnType<typeof sessionReading>;

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
