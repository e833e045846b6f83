import type { SessionEvent, SubagentFact } from '@sluice/sdk/stream';
import { orderingChecker, refuseDisorder, traceEvent } from '@sluice/sdk/stream/internal';
import { systemClock } from 'sluice-kernel';
import { type Arrival, Arrivals, type Frames } from '../frames/arrivals.js';
import type { RunRest } from '../frames/background-work.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import type { NormalizeOptions } from '../session/normalize-options.js';
import { diagnosticReporter } from '../session/session-diagnostic.js';
import { SessionNormalizer } from '../session/session-normalizer.js';
import { factsOfCallback, factsOfFrame } from '../subagents/subagent-facts.js';

/** The times that a run waits for another turn, of which `long` is given (csdk §7.3). A recording waits without a limit. */
export function waitsMs(long = 60_000): Readonly<Partial<Record<RunRest, number>>> {
  return { long, moment: long === Infinity ? long : Math.min(long, 2_000) };
}

/** The options for reading a run. */
interface ReadingOptions extends NormalizeOptions {
  /** Is told each frame before anything that becomes of it. */
  readonly onFrame?: (frame: CsdkFrame) => void;
}

/**
 * Reads one run, one event at a time. An event that needs no wait comes without a promise, so that a reader pays for
 * the waits of its source and for nothing else.
 */
export class SessionReading {
  readonly #options: ReadingOptions;
  readonly #arrivals: Arrivals;
  readonly #report: ReturnType<typeof diagnosticReporter>;
  readonly #session: SessionNormalizer;
  readonly #checker: ReturnType<typeof orderingChecker> | undefined;
  #events: SessionEvent[] = [];
  #told = 0;
  /** Facts about subagents that are told when the events before them were taken. */
  #facts: SubagentFact[] = [];
  #sessionId: string | undefined;

  constructor(messages: Frames, options: ReadingOptions) {
    const { callbacks, signal, clock = systemClock, onSubagent } = options;
    this.#options = options;
    this.#arrivals = new Arrivals({ messages, callbacks, signal, clock });
    this.#report = diagnosticReporter(options.onDiagnostic);
    this.#checker = options.check === true ? orderingChecker() : undefined;
    this.#sessionId = options.sessionId;
    this.#session = new SessionNormalizer(
      options,
      (event) => this.#events.push(event),
      this.#report,
      (fact) => (this.#events.length === 0 ? onSubagent?.(fact) : this.#facts.push(fact)),
    );
  }

  /**
   * The next event, or nothing at the end. One call at a time.
   *
   * @throws `session-out-of-order` if `check` is on and the event breaks the order.
   */
  next(): SessionEvent | undefined | Promise<SessionEvent | undefined> {
    for (;;) {
      const event = this.#ready();
      if (event !== undefined) return event;
      const arrival = this.#arrival();
      if (arrival instanceof Promise) return this.#nextAfter(arrival);
      if (arrival === undefined || !this.#take(arrival)) return undefined;
    }
  }

  /** The next event behind an arrival. One promise is held, however many arrivals become no event. */
  async #nextAfter(first: Promise<Arrival>): Promise<SessionEvent | undefined> {
    let next: Arrival | Promise<Arrival> | undefined = first;
    for (;;) {
      const arrival: Arrival | undefined = next instanceof Promise ? await next : next;
      if (arrival === undefined || !this.#take(arrival)) return undefined;
      const event = this.#ready();
      if (event !== undefined) return event;
      next = this.#arrival();
    }
  }

  /** The next event of the arrivals that were taken. */
  #ready(): SessionEvent | undefined {
    const event = this.#events[this.#told];
    if (event !== undefined) {
      this.#told++;
      this.#watch(event);
      return event;
    }
    this.#events.length = 0;
    this.#told = 0;
    return undefined;
  }

  /** The next arrival, or nothing if the run has ended. All events before it were taken. */
  #arrival(): Arrival | Promise<Arrival> | undefined {
    if (this.#session.ended) {
      if (this.#checker !== undefined) refuseDisorder(this.#checker.finish());
      return undefined;
    }
    this.#eventsTaken();
    return this.#arrivals.next();
  }

  /** Wakes the reader that waits: the run is over for it. */
  close(): void {
    this.#arrivals.close();
  }

  /** Lets go of both sources, once. */
  async release(): Promise<void> {
    const failed = await this.#arrivals.release();
    if (failed !== undefined) this.#report({ kind: 'source_failed', error: failed.error });
  }

  #watch(event: SessionEvent): void {
    const { logger, runId } = this.#options;
    if (logger !== undefined) traceEvent(logger, { runId, sessionId: this.#sessionId }, event);
    if (this.#checker !== undefined) refuseDisorder(this.#checker.take(event));
  }

  #eventsTaken(): void {
    const { onSubagent, idleTimeoutMs } = this.#options;
    if (this.#facts.length > 0) for (const fact of this.#facts.splice(0)) onSubagent?.(fact);
    const { rest, wait } = this.#session.work;
    this.#arrivals.wakeAfter(waitsMs(idleTimeoutMs)[rest], wait);
  }

  /** Reads an arrival. @returns false if the reader has left. */
  #take(arrival: Arrival): boolean {
    const { onSubagent, signal } = this.#options;
    const session = this.#session;
    switch (arrival.kind) {
      case 'frame':
        if (isFields(arrival.frame)) this.#see(arrival.frame);
        session.take(arrival.frame);
        return true;
      case 'callback':
        if (onSubagent !== undefined)
          for (const fact of factsOfCallback(arrival.callback)) onSubagent(fact);
        session.callback(arrival.callback);
        return true;
      case 'ended':
        session.sourceEnded();
        return true;
      case 'threw': // the SDK's AbortError is called "Error": the signal tells
        if (signal?.aborted === true || isAbortError(arrival.error)) session.abort();
        else session.sourceThrew(arrival.error);
        return true;
      case 'callbacksFailed':
        this.#report({ kind: 'callbacks_failed', error: arrival.error });
        return true;
      case 'aborted':
        session.abort();
        return true;
      case 'timedOut':
        session.idleTimedOut();
        return true;
      case 'left':
      case 'closed':
        return false;
    }
  }

  /** The facts of subagents are told before the events that the frame becomes. */
  #see(frame: CsdkFrame): void {
    const { onFrame, onSubagent, logger, sessionId } = this.#options;
    onFrame?.(frame);
    if (logger !== undefined)
      this.#sessionId = sessionId ?? textField(frame, 'session_id') ?? this.#sessionId;
    if (onSubagent !== undefined) for (const fact of factsOfFrame(frame)) onSubagent(fact);
  }
}

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
