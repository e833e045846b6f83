import type { AgentEventPayload } from '@sluice/sdk/stream';
import { type Clock, definedFields, type Logger, Timer } from 'sluice-kernel/internal';
import { gatewayError } from '../../errors.js';
import {
  isGapReport,
  isNamedStream,
  type OtherAgentEvent,
  readAgentEvent,
  type WireAgentEvent,
} from '../../protocol/agent-event.js';
import { type ChatEvent, type LostReason, readChatEvent } from '../../protocol/chat-event.js';
import { shapesOf } from '../../protocol/protocols.js';
import type { ClientCounters } from './client-stats.js';

/** Hears each event of one run whose stream seed 003 names. */
export type AgentCallback = (event: AgentEventPayload) => void;

/** Hears each `chat` event of one run. */
export type ChatCallback = (event: ChatEvent) => void;

/**
 * Brings the events of runs to the callbacks that are registered for them: `agent` and `chat` side by side.
 *
 * @param protocol that of the gateway.
 */
export function runRoutes(
  maxRuns: number,
  counters: ClientCounters,
  clock: Clock,
  logger: Logger,
  protocol: () => number,
) {
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
    if (lastSeq > 0 && seq > lastSeq + 1 && shapesOf(protocol()).numbersAll) {
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
      if (event === 'other') return false;
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

/** A registered run with its callbacks. */
interface RegisteredRun<Callback> {
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
function runCallbacks<Event extends { readonly runId: string }, Callback>(
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

/** Bounds the events of runs that are not registered yet. */
const maxEvents = 1_000;

/** Bounds the characters of those events. */
const maxChars = 4 * 1024 * 1024;

/** Milliseconds after an acknowledgement in which its run may be registered. */
const graceMs = 1_000;

/**
 * Keeps events that come before their run is registered: a gateway may begin to tell of a run before it has
 * acknowledged it. They are kept only while somebody waits for an acknowledgement, and shortly after.
 */
function earlyEvents<Event extends { readonly runId: string }>(clock: Clock, onDrop: () => void) {
  let kept: { readonly event: Event; readonly chars: number }[] = [];
  let keptChars = 0;
  let waiting = 0;
  const grace = new Timer(clock);

  function clear(): void {
    kept = [];
    keptChars = 0;
    grace.clear();
  }

  return {
    size: (): number => kept.length,

    /** Notes that somebody waits for an acknowledgement, until the returned function is called once. */
    expect(): () => void {
      waiting++;
      return () => {
        if (--waiting > 0) return;
        grace.setIdly(graceMs, () => {
          if (waiting === 0) clear();
        });
      };
    },

    /** Keeps an event, if its run may still be registered. @param chars the length of its frame. */
    keep(event: Event, chars: number): void {
      if (waiting === 0 && !grace.isSet) return;
      kept.push({ event, chars });
      keptChars += chars;
      while (kept.length > maxEvents || keptChars > maxChars) {
        keptChars -= kept.shift()?.chars ?? 0;
        onDrop();
      }
    },

    /** Takes the events of a run out, in the order in which they came. */
    take(runId: string): readonly Event[] {
      const taken = kept.filter(({ event }) => event.runId === runId);
      if (taken.length === 0) return [];
      kept = kept.filter(({ event }) => event.runId !== runId);
      keptChars = kept.reduce((sum, { chars }) => sum + chars, 0);
      return taken.map(({ event }) => event);
    },
    clear,
  };
}

/** The parts of `earlyEvents` that others use. */
type EarlyEvents<Event extends { readonly runId: string }> = ReturnType<typeof earlyEvents<Event>>;
