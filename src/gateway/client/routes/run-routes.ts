import { type Clock, definedFields, type Logger } from '../../../kernel/index.js';
import type { AgentEventPayload } from '../../../stream/index.js';
import {
  isGapReport,
  isNamedStream,
  type OtherAgentEvent,
  readAgentEvent,
  type WireAgentEvent,
} from '../../protocol/agent-event.js';
import { type ChatEvent, readChatEvent } from '../../protocol/chat-event.js';
import type { LostReason } from '../../protocol/lost-reason.js';
import type { ClientCounters } from './client-stats.js';
import { EarlyEvents } from './early-events.js';
import { type RegisteredRun, RunCallbacks } from './run-callbacks.js';

/** Is told each event of one run whose stream seed 003 names. */
export type AgentCallback = (event: AgentEventPayload) => void;

/** Is told each `chat` event of one run. */
export type ChatCallback = (event: ChatEvent) => void;

interface AgentRegistration {
  readonly callback: AgentCallback;
  readonly other: ((event: OtherAgentEvent) => void) | undefined;
}

/** Brings the events of runs to those who have registered them: `agent` and `chat` side by side. */
export class RunRoutes {
  readonly #agent: RunCallbacks<WireAgentEvent, AgentRegistration>;
  readonly #chat: RunCallbacks<ChatEvent, ChatCallback>;
  readonly #early: { agent: EarlyEvents<WireAgentEvent>; chat: EarlyEvents<ChatEvent> };
  readonly #counters: ClientCounters;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(maxRuns: number, counters: ClientCounters, clock: Clock, logger: Logger) {
    this.#counters = counters;
    this.#clock = clock;
    this.#logger = logger;
    const onDrop = (): void => void counters.earlyEventsDropped++;
    const agent = new EarlyEvents<WireAgentEvent>(clock, onDrop);
    const chat = new EarlyEvents<ChatEvent>(clock, onDrop);
    this.#early = { agent, chat };
    this.#agent = new RunCallbacks({
      kind: 'agent',
      maxRuns,
      early: agent,
      deliver: (event, run) => this.#deliverAgent(event, run),
    });
    this.#chat = new RunCallbacks({
      kind: 'chat',
      maxRuns,
      early: chat,
      deliver: (event, run) => this.#call(event.runId, () => run.callback(event)),
    });
  }

  get agentRuns(): number {
    return this.#agent.size;
  }

  get chatRuns(): number {
    return this.#chat.size;
  }

  get earlyEvents(): number {
    return this.#early.agent.size + this.#early.chat.size;
  }

  registerAgent(
    runId: string,
    callback: AgentCallback,
    other?: (event: OtherAgentEvent) => void,
  ): void {
    this.#agent.register(runId, { callback, other });
  }

  unregisterAgent(runId: string, callback?: AgentCallback): boolean {
    return this.#agent.unregister(
      runId,
      (own) => callback === undefined || own.callback === callback,
    );
  }

  registerChat(runId: string, callback: ChatCallback): void {
    this.#chat.register(runId, callback);
  }

  unregisterChat(runId: string, callback?: ChatCallback): boolean {
    return this.#chat.unregister(runId, (own) => callback === undefined || own === callback);
  }

  /** Keeps events of runs that nobody has registered, until what is returned is disposed, and a little longer. */
  expect(): Disposable {
    const expected = [this.#early.agent.expect(), this.#early.chat.expect()];
    return {
      [Symbol.dispose]: () => {
        for (const one of expected) one[Symbol.dispose]();
      },
    };
  }

  /** @returns whether somebody was told. */
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
    return this.#counted(this.#agent.route(event, chars));
  }

  /** @returns whether somebody was told. */
  routeChat(payload: unknown, chars: number): boolean {
    const event = readChatEvent(payload);
    return event === undefined ? this.#malformed() : this.#counted(this.#chat.route(event, chars));
  }

  /** Ends every run: nothing more can come of it. */
  endAll(reason: LostReason, error: string): void {
    for (const entry of Object.values(this.#early)) entry.clear();
    const chats = this.#chat.takeAll();
    for (const [runId, { callback }] of this.#agent.takeAll()) {
      const data = { reason, error };
      const ts = this.#clock.now();
      this.#call(runId, () => callback({ runId, seq: 0, stream: 'error', ts, data }));
    }
    for (const [runId, callback] of chats)
      this.#call(runId, () =>
        callback({ runId, state: 'error', errorMessage: error, lost: reason }),
      );
  }

  #deliverAgent(wire: WireAgentEvent, run: RegisteredRun<AgentRegistration>): void {
    const { runId, stream, seq, ts = this.#clock.now(), data = {}, sessionKey } = wire;
    if (seq !== undefined && !this.#isNext(runId, seq, run)) return;
    const event: OtherAgentEvent = {
      runId,
      // one without a number belongs after the one before it
      seq: run.lastSeq || 1,
      stream,
      ts,
      data,
      ...definedFields({ sessionKey }),
    };
    const { callback, other } = run.callback;
    this.#call(runId, () => (isNamedStream(event) ? callback(event) : other?.(event)));
  }

  #isNext(runId: string, seq: number, run: RegisteredRun<AgentRegistration>): boolean {
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
