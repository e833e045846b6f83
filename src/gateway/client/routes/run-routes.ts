import { type Clock, definedFields, type Logger } from '../../../kernel/index.js';
import type { AgentEventPayload } from '../../../stream/index.js';
import {
  isGapReport,
  isNamedStream,
  type OtherAgentEvent,
  readAgentEvent,
  type WireAgentEvent,
} from '../../protocol/agent-event.js';
import { type ChatEvent, type LostReason, readChatEvent } from '../../protocol/chat-event.js';
import type { ClientCounters } from './client-stats.js';
import { EarlyEvents } from './early-events.js';
import { type RegisteredRun, RunCallbacks } from './run-callbacks.js';

/** Hears each event of one run whose stream seed 003 names. */
export type AgentCallback = (event: AgentEventPayload) => void;

/** Hears each `chat` event of one run. */
export type ChatCallback = (event: ChatEvent) => void;

/** Brings the events of runs to the callbacks that are registered for them: `agent` and `chat` side by side. */
export class RunRoutes {
  readonly agent: RunCallbacks<WireAgentEvent, AgentCallback>;
  readonly chat: RunCallbacks<ChatEvent, ChatCallback>;
  readonly #counters: ClientCounters;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(maxRuns: number, counters: ClientCounters, clock: Clock, logger: Logger) {
    this.#counters = counters;
    this.#clock = clock;
    this.#logger = logger;
    const onDrop = (): void => void counters.earlyEventsDropped++;
    this.agent = new RunCallbacks({
      kind: 'agent',
      maxRuns,
      early: new EarlyEvents(clock, onDrop),
      deliver: (event, run) => this.#deliverAgent(event, run),
    });
    this.chat = new RunCallbacks({
      kind: 'chat',
      maxRuns,
      early: new EarlyEvents(clock, onDrop),
      deliver: (event, run) => this.#call(event.runId, () => run.callback(event)),
    });
  }

  /** Keeps the events of unregistered runs, until the returned object is disposed, and a little longer. */
  expect(): Disposable {
    const ends = [this.agent.early.expect(), this.chat.early.expect()];
    return { [Symbol.dispose]: () => ends.forEach((end) => void end()) };
  }

  /** @returns true if a callback was told. */
  routeAgent(payload: unknown, chars: number): boolean {
    const event = readAgentEvent(payload);
    if (event === undefined) return this.#malformed();
    if (isGapReport(event)) {
      const { expected, received } = event.data ?? {};
      this.#counters.gapReports++;
      this.#logger.warn('the gateway has missed events of a run', {
        ...{ runId: event.runId, expected, received },
      });
      return false;
    }
    return this.#counted(this.agent.route(event, chars));
  }

  /** @returns true if a callback was told. */
  routeChat(payload: unknown, chars: number): boolean {
    const event = readChatEvent(payload);
    return event === undefined ? this.#malformed() : this.#counted(this.chat.route(event, chars));
  }

  /** Ends every run, because no event of it can come any more. */
  endAll(reason: LostReason, error: string): void {
    for (const { early } of [this.agent, this.chat]) early.clear();
    const chats = this.chat.takeAll();
    for (const [runId, callback] of this.agent.takeAll()) {
      const data = { reason, error };
      const ts = this.#clock.now();
      this.#call(runId, () => callback({ runId, seq: 0, stream: 'error', ts, data }));
    }
    for (const [runId, callback] of chats)
      this.#call(runId, () =>
        callback({ runId, state: 'error', errorMessage: error, lost: reason }),
      );
  }

  #deliverAgent(wire: WireAgentEvent, run: RegisteredRun<AgentCallback>): void {
    const { runId, stream, seq, ts = this.#clock.now(), data = {}, sessionKey } = wire;
    if (seq !== undefined && !this.#isNext(runId, seq, run)) return;
    const event: OtherAgentEvent = {
      runId,
      // an event without a number belongs after the one before it
      seq: run.lastSeq || 1,
      stream,
      ts,
      data,
      ...definedFields({ sessionKey }),
    };
    this.#call(runId, () => (isNamedStream(event) ? run.callback(event) : run.other?.(event)));
  }

  #isNext(runId: string, seq: number, run: RegisteredRun<AgentCallback>): boolean {
    const { lastSeq } = run;
    if (seq <= lastSeq) {
      this.#counters.seqRegressions++;
      return false;
    }
    run.lastSeq = seq;
    if (lastSeq > 0 && seq > lastSeq + 1) {
      this.#counters.seqGaps++;
      this.#logger.warn('events of a run are missing', { runId, after: lastSeq, before: seq });
    }
    return true;
  }

  #call(runId: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#counters.listenerErrors++;
      this.#logger.error('the callback of a run threw', { runId, error });
    }
  }

  #malformed(): false {
    this.#counters.malformedFrames++;
    return false;
  }

  #counted(isRouted: boolean): boolean {
    if (!isRouted) this.#counters.unroutedEvents++;
    return isRouted;
  }
}
