import { type Clock, definedFields, type Logger } from '../../../../kernel/index.js';
import type { AgentEventPayload } from '../../../../sdk/stream/index.js';
import {
  isGapReport,
  isNamedStream,
  type OtherAgentEvent,
  readAgentEvent,
  type WireAgentEvent,
} from '../../protocol/agent-event.js';
import { type ChatEvent, type LostReason, readChatEvent } from '../../protocol/chat-event.js';
import type { ClientCounters } from './client-stats.js';
import { earlyEvents } from './early-events.js';
import { type RegisteredRun, runCallbacks } from './run-callbacks.js';

/** Hears each event of one run whose stream seed 003 names. */
export type AgentCallback = (event: AgentEventPayload) => void;

/** Hears each `chat` event of one run. */
export type ChatCallback = (event: ChatEvent) => void;

/** Brings the events of runs to the callbacks that are registered for them: `agent` and `chat` side by side. */
export function runRoutes(maxRuns: number, counters: ClientCounters, clock: Clock, logger: Logger) {
  const onDrop = (): void => void counters.earlyEventsDropped++;
  const early = earlyEvents<WireAgentEvent>(clock, onDrop);
  const agent = runCallbacks('agent', maxRuns, early, deliverAgent);
  const chat = runCallbacks<ChatEvent, ChatCallback>(
    'chat',
    maxRuns,
    earlyEvents(clock, onDrop),
    (event, run) => call(event.runId, () => run.callback(event)),
  );

  function deliverAgent(wire: WireAgentEvent, run: RegisteredRun<AgentCallback>): void {
    const { runId, stream, seq, ts = clock.now(), data = {}, sessionKey } = wire;
    if (seq !== undefined && !isNext(runId, seq, run)) return;
    const event: OtherAgentEvent = {
      runId,
      // an event without a number belongs after the one before it
      seq: run.lastSeq || 1,
      stream,
      ts,
      data,
      ...definedFields({ sessionKey }),
    };
    call(runId, () => (isNamedStream(event) ? run.callback(event) : run.other?.(event)));
  }

  function isNext(runId: string, seq: number, run: RegisteredRun<AgentCallback>): boolean {
    const { lastSeq } = run;
    if (seq <= lastSeq) {
      counters.seqRegressions++;
      return false;
    }
    run.lastSeq = seq;
    if (lastSeq > 0 && seq > lastSeq + 1) {
      counters.seqGaps++;
      logger.warn('events of a run are missing', { runId, after: lastSeq, before: seq });
    }
    return true;
  }

  function call(runId: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      counters.listenerErrors++;
      logger.error('the callback of a run threw', { runId, error });
    }
  }

  function malformed(): false {
    counters.malformedFrames++;
    return false;
  }

  function counted(isRouted: boolean): boolean {
    if (!isRouted) counters.unroutedEvents++;
    return isRouted;
  }

  return {
    agent,
    chat,

    /** Keeps the events of unregistered runs, until the returned object is disposed, and a little longer. */
    expect(): Disposable {
      const ends = [agent.early.expect(), chat.early.expect()];
      return { [Symbol.dispose]: () => ends.forEach((end) => void end()) };
    },

    /** @returns true if a callback was told. */
    routeAgent(payload: unknown, chars: number): boolean {
      const event = readAgentEvent(payload);
      if (event === undefined) return malformed();
      if (isGapReport(event)) {
        const { expected, received } = event.data ?? {};
        counters.gapReports++;
        logger.warn('the gateway has missed events of a run', {
          ...{ runId: event.runId, expected, received },
        });
        return false;
      }
      return counted(agent.route(event, chars));
    },

    /** @returns true if a callback was told. */
    routeChat(payload: unknown, chars: number): boolean {
      const event = readChatEvent(payload);
      return event === undefined ? malformed() : counted(chat.route(event, chars));
    },

    /** Ends every run, because no event of it can come any more. */
    endAll(reason: LostReason, error: string): void {
      for (const kind of [agent, chat]) kind.early.clear();
      const chats = chat.takeAll();
      for (const [runId, callback] of agent.takeAll()) {
        const data = { reason, error };
        const ts = clock.now();
        call(runId, () => callback({ runId, seq: 0, stream: 'error', ts, data }));
      }
      for (const [runId, callback] of chats)
        call(runId, () => callback({ runId, state: 'error', errorMessage: error, lost: reason }));
    },
  };
}

/** The parts of `runRoutes` that others use. */
export type RunRoutes = ReturnType<typeof runRoutes>;
