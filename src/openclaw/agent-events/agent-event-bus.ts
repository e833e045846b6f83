import { Recent } from '@sluice/sdk/stream/internal';
import {
  type Call,
  definedFields,
  type Envelope,
  type FamilyName,
  isThenable,
  type Kernel,
  openKernel,
  silentLogger,
  systemClock,
  unfailing,
} from 'sluice-kernel/internal';
import { announce } from '../facts/announce.js';
import { contributeAll } from '../facts/contribute-all.js';
import { isOfLegacyHost } from '../facts/legacy-source.js';
import { sameFact } from '../facts/same-fact.js';
import { plainRecords } from '../facts/plain-records.js';
import type { AgentEvents, AgentEventsOptions } from './agent-events.js';
import type { AgentEvent, AgentEventInput, AgentEventListener, AgentRunContext } from './event.js';
import type { AgentEventRow } from './row.js';
import { heardFamilies, heardOf, rowOf } from './rows.js';

/** Before every handler that may wait: a listener hears of a thing when it begins. */
const sinkPriority = 1_000_000;

/** The bus itself: one per kernel. `AgentEvents` describes it. */
export function agentEventBus(on: Kernel, options: AgentEventsOptions): AgentEvents {
  const { extensionId = 'agent-events', clock = systemClock, maxRuns = 10_000 } = options;
  const kernel = openKernel(on);
  const facts = sameFact(on, { clock });
  const logger = unfailing(options.logger ?? silentLogger);
  const runs = rememberedRuns(maxRuns);
  /** In order of registration. */
  const listeners = new Set<AgentEventListener>();
  const pending = new Set<Promise<unknown>>();
  const misfits = new Set<AgentEventRow>();
  const counts = {
    emitted: 0,
    dispatched: 0,
    left: 0,
    unmapped: 0,
    misfits: 0,
    told: 0,
    failures: 0,
  };
  const sinks = contributeAll(
    kernel,
    [...heardFamilies].map((family) => ({
      family,
      class: 'observer',
      extensionId,
      id: `listeners.${family}`,
      priority: sinkPriority,
      handler: ({ event }: Call) => observe(family, event),
    })),
  );

  /** Calls every listener, also those that another one adds meanwhile: a set walks over them, too. */
  function report(event: AgentEvent): void {
    const failed = (error: unknown): void => {
      counts.failures++;
      logger.debug('an agent event listener failed', { error });
    };
    for (const listener of listeners)
      try {
        const result: unknown = listener(event);
        if (isThenable(result)) Promise.resolve(result).catch(failed);
      } catch (error) {
        failed(error);
      }
  }

  /** Adds the number, the time and the session of an event. A run that is not to be seen gets no session. */
  function enriched(event: AgentEventInput, said: unknown, ts: number): AgentEvent {
    const context = runs.contexts.get(event.runId);
    const own = typeof said === 'string' && said.trim() !== '' ? said : undefined;
    const isVisible = context?.isControlUiVisible ?? true;
    const sessionKey = isVisible ? (own ?? context?.sessionKey) : undefined;
    return { ...event, sessionKey, seq: runs.nextSeq(event.runId), ts };
  }

  function dispatch(row: AgentEventRow, family: string, event: AgentEvent): void {
    const params = paramsOf(event);
    const isLeft = row.leftToHooks === true && facts.isAttached('plugin-hooks');
    if (isLeft || runs.driven.has(event.runId)) {
      counts.left++;
      return;
    }
    try {
      const context = runs.contexts.get(event.runId) ?? {};
      const sessionKey = event.sessionKey ?? context.sessionKey;
      const { runId, seq: sourceSeq, data } = event;
      const told = row.payload?.({ event, data, context, params }) ?? {};
      const payload = kernel.parsePayload(
        family,
        plainRecords({ ...told, runId, sourceSeq, ...definedFields({ sessionKey }) }),
      );
      begin(row, family, payload, event);
    } catch (error) {
      misfit(row, error);
    }
  }

  function begin(row: AgentEventRow, family: string, payload: object, { stream, ts }: AgentEvent) {
    const metadata = { legacyBus: 'agent-events', stream };
    const gate = row.observeOnly === true ? { gate: 'observe-only' as const } : {};
    const given = { ...gate, occurredAt: ts, metadata };
    if (family === 'agent.output.delta') {
      counts.dispatched++;
      kernel.dispatchSync(family, payload, given);
      return;
    }
    const dispatched = announce(facts, 'agent-events', family, payload, () => {
      counts.dispatched++;
      return kernel.dispatch(family, payload, given);
    }).catch((error: unknown) => misfit(row, error));
    pending.add(dispatched);
    void dispatched.finally(() => pending.delete(dispatched));
  }

  /** Keeps the arguments of a tool call, which its start tells and its result needs. */
  function paramsOf({ runId, stream, data }: AgentEvent): unknown {
    if (stream !== 'tool' || typeof data?.toolCallId !== 'string') return undefined;
    if (data.phase === 'start') runs.keepParams(runId, data.toolCallId, data.args);
    return data.phase === 'result' ? runs.takeParams(runId, data.toolCallId) : undefined;
  }

  function misfit(row: AgentEventRow, error: unknown): void {
    counts.misfits++;
    if (misfits.has(row)) return;
    misfits.add(row); // told once per row
    const what = row.phase === undefined ? row.stream : `${row.stream} ${row.phase}`;
    logger.warn(`the agent event ${what} was not dispatched`, { error });
  }

  /** Tells the listeners of a dispatch that somebody else made. That one drives the run. */
  function observe(family: FamilyName, event: Envelope): void {
    if (isOfLegacyHost(event)) return; // this bus dispatched it, or its host emits an event for it itself
    const { payload, occurredAt } = event;
    const { runId, sessionKey } = payload as { runId?: string; sessionKey?: string }; // a run's payload
    if (runId === undefined) return;
    runs.driven.set(runId, true);
    if (listeners.size === 0) return;
    const heard = heardOf(family, payload);
    if (heard === undefined) return;
    counts.told++;
    report(enriched({ runId, ...heard }, sessionKey, occurredAt));
  }

  return {
    emitAgentEvent(given) {
      counts.emitted++;
      const event = enriched(given, given.sessionKey, clock.now());
      report(event);
      const row = rowOf(given.stream, given.data);
      const part = row?.parts[0];
      if (row === undefined || part === undefined) counts.unmapped++;
      else dispatch(row, part.family, event);
    },
    onAgentEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    registerAgentRunContext: runs.register,
    getAgentRunContext: (runId) => runs.contexts.get(runId),
    clearAgentRunContext: (runId) => void runs.contexts.delete(runId),
    async idle() {
      await Promise.all(pending);
    },
    stats: () => ({ listeners: listeners.size, ...counts }),
    [Symbol.dispose]() {
      sinks[Symbol.dispose]();
      listeners.clear();
    },
  };
}

/** The memory for agent runs. The legacy module forgets none; here the runs that were silent longest are forgotten. */
function rememberedRuns(maxRuns: number) {
  const seqs = new Recent<string, number>(maxRuns);
  const contexts = new Recent<string, AgentRunContext>(maxRuns);
  /** The arguments of tool calls, until the tools answer. */
  const params = new Recent<string, unknown>(maxRuns);
  return {
    contexts,
    /** Runs whose agent.* events somebody else dispatches. */
    driven: new Recent<string, true>(maxRuns),
    /** The next number of a run, from 1. It goes on after the run's context is cleared. */
    nextSeq(runId: string): number {
      const seq = (seqs.get(runId) ?? 0) + 1;
      seqs.set(runId, seq);
      return seq;
    },
    /** Adds to what is known of a run: texts that are not empty, and flags that are said. */
    register(runId: string, context: AgentRunContext): void {
      if (!runId) return;
      const existing = contexts.get(runId);
      if (existing === undefined) {
        contexts.set(runId, { ...context });
        return;
      }
      const { sessionKey, verboseLevel, isHeartbeat, isControlUiVisible } = context;
      if (sessionKey) existing.sessionKey = sessionKey;
      if (verboseLevel) existing.verboseLevel = verboseLevel;
      if (isHeartbeat !== undefined) existing.isHeartbeat = isHeartbeat;
      if (isControlUiVisible !== undefined) existing.isControlUiVisible = isControlUiVisible;
      contexts.set(runId, existing);
    },
    keepParams(runId: string, toolCallId: string, args: unknown): void {
      params.set(keyOf(runId, toolCallId), args);
    },
    takeParams(runId: string, toolCallId: string): unknown {
      const key = keyOf(runId, toolCallId);
      const args = params.get(key);
      params.delete(key);
      return args;
    },
  };
}

function keyOf(runId: string, toolCallId: string): string {
  return JSON.stringify([runId, toolCallId]);
}
