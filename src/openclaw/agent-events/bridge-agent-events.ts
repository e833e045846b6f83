import { Recent } from '@sluice/sdk/stream/internal';
import {
  type Call,
  type Clock,
  definedFields,
  type Envelope,
  type FamilyName,
  isThenable,
  type Kernel,
  systemClock,
} from 'sluice-kernel/internal';
import { isOfLegacyHost, LegacyBus, sharedBus } from '../facts/legacy-bus.js';
import type { AgentEvents, AgentEventsOptions, AgentEventsStats } from './agent-events.js';
import type { AgentEvent, AgentEventInput, AgentEventListener, AgentRunContext } from './event.js';
import type { AgentEventRow } from './row.js';
import { heardFamilies, heardOf, rowOf } from './rows.js';

/**
 * Puts the agent event bus on a kernel. What is emitted reaches the listeners as in the legacy module, and the
 * pipeline as the family of its stream and phase; what a turn or another bridge dispatches reaches the listeners as
 * the event that the legacy system would emit for it.
 *
 * A kernel has one such bus, as a legacy process has: each call gives access to the same, and options count at the
 * first. Disposing takes the listeners away that came through it, and after the last the bus.
 *
 * @example
 * const bus = bridgeAgentEvents(kernel);
 * const stop = bus.onAgentEvent(({ runId, seq, stream, data }) => show(runId, seq, stream, data));
 * bus.emitAgentEvent({ runId: 'r-1', stream: 'lifecycle', data: { phase: 'start', startedAt: Date.now() } });
 */
export function bridgeAgentEvents(kernel: Kernel, options: AgentEventsOptions = {}): AgentEvents {
  const { bus, leave } = join(kernel, options);
  const own = new Set<AgentEventListener>();
  return {
    emitAgentEvent: (event) => bus.emit(event),
    onAgentEvent: (listener) => {
      bus.add(listener);
      own.add(listener);
      return () => own.delete(listener) && bus.remove(listener);
    },
    registerAgentRunContext: (runId, context) => bus.runs.register(runId, context),
    getAgentRunContext: (runId) => bus.runs.contexts.get(runId),
    clearAgentRunContext: (runId) => void bus.runs.contexts.delete(runId),
    idle: () => bus.idle(),
    stats: () => bus.stats(),
    [Symbol.dispose]: () => {
      for (const listener of own) bus.remove(listener);
      own.clear();
      leave();
    },
  };
}

const join = sharedBus((kernel, options: AgentEventsOptions) => new AgentEventBus(kernel, options));

/** Before every handler that may wait: a listener hears of a thing when it begins. */
const sinkPriority = 1_000_000;

/** The agent event bus of a kernel. `AgentEvents` describes it. */
class AgentEventBus extends LegacyBus<AgentEventRow, never> implements Disposable {
  readonly runs: RememberedRuns;
  readonly #clock: Clock;
  /** In order of registration. */
  readonly #listeners = new Set<AgentEventListener>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #counts = { emitted: 0, left: 0, unmapped: 0, told: 0 };
  readonly #sinks: Disposable;

  constructor(on: Kernel, options: AgentEventsOptions) {
    super(on, 'agent-events', options.logger);
    const { extensionId = 'agent-events', clock = systemClock, maxRuns = 10_000 } = options;
    this.#clock = clock;
    this.facts(clock);
    this.runs = new RememberedRuns(maxRuns);
    this.#sinks = this.contribute(
      [...heardFamilies].map((family) => ({
        family,
        class: 'observer',
        extensionId,
        id: `listeners.${family}`,
        priority: sinkPriority,
        handler: ({ event }: Call) => this.#observe(family, event),
      })),
    );
  }

  stats(): AgentEventsStats {
    return { listeners: this.#listeners.size, ...this.#counts, ...this.counts };
  }

  /** Resolves when every dispatch that was begun so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  add(listener: AgentEventListener): void {
    this.#listeners.add(listener);
  }

  /** @returns whether it was there. */
  remove(listener: AgentEventListener): boolean {
    return this.#listeners.delete(listener);
  }

  emit(given: AgentEventInput): void {
    this.#counts.emitted++;
    const event = this.#enriched(given, given.sessionKey, this.#clock.now());
    this.#report(event);
    const row = rowOf(given.stream, given.data);
    const part = row?.parts[0];
    if (row === undefined || part === undefined) this.#counts.unmapped++;
    else this.#dispatch(row, part.family, event);
  }

  [Symbol.dispose](): void {
    this.#sinks[Symbol.dispose]();
    this.#listeners.clear();
  }

  /** Calls every listener, also those that another one adds meanwhile: a set walks over them, too. */
  #report(event: AgentEvent): void {
    const failed = (error: unknown): void => {
      this.counts.failures++;
      this.logger.debug('an agent event listener failed', { error });
    };
    for (const listener of this.#listeners)
      try {
        const result: unknown = listener(event);
        if (isThenable(result)) Promise.resolve(result).catch(failed);
      } catch (error) {
        failed(error);
      }
  }

  /** Adds the number, the time and the session of an event. A run that is not to be seen gets no session. */
  #enriched(event: AgentEventInput, said: unknown, ts: number): AgentEvent {
    const context = this.runs.contexts.get(event.runId);
    const own = typeof said === 'string' && said.trim() !== '' ? said : undefined;
    const isVisible = context?.isControlUiVisible ?? true;
    const sessionKey = isVisible ? (own ?? context?.sessionKey) : undefined;
    return { ...event, sessionKey, seq: this.runs.nextSeq(event.runId), ts };
  }

  #dispatch(row: AgentEventRow, family: FamilyName, event: AgentEvent): void {
    const { runId, seq: sourceSeq, stream, data, ts: occurredAt } = event;
    const params = this.runs.paramsOf(event);
    const isLeft = row.leftToHooks === true && this.facts().isAttached('plugin-hooks');
    if (isLeft || this.runs.driven.has(runId)) {
      this.#counts.left++;
      return;
    }
    const misfit = (error: unknown): void => {
      const name = row.phase === undefined ? row.stream : `${row.stream} ${row.phase}`;
      this.misfit(row, `the agent event ${name} was not dispatched`, error);
    };
    try {
      const context = this.runs.contexts.get(runId) ?? {};
      const sessionKey = event.sessionKey ?? context.sessionKey;
      const told = row.payload?.({ event, data, context, params }) ?? {};
      const payload = { ...told, runId, sourceSeq, ...definedFields({ sessionKey }) };
      const gate = row.observeOnly === true ? { gate: 'observe-only' as const } : {};
      const given = { ...gate, occurredAt, metadata: { legacyBus: 'agent-events', stream } };
      const checked = this.checked({ family, payload, given });
      if (family === 'agent.output.delta') return void this.announceSync(checked);
      const dispatched = this.announce(checked).catch(misfit);
      this.#pending.add(dispatched);
      void dispatched.finally(() => this.#pending.delete(dispatched));
    } catch (error) {
      misfit(error);
    }
  }

  /** Tells the listeners of a dispatch that somebody else made. That one drives the run. */
  #observe(family: FamilyName, event: Envelope): void {
    if (isOfLegacyHost(event)) return; // this bus dispatched it, or its host emits an event for it itself
    const { payload, occurredAt } = event;
    const { runId, sessionKey } = payload as { runId?: string; sessionKey?: string }; // a run's payload
    if (runId === undefined) return;
    this.runs.driven.set(runId, true);
    if (this.#listeners.size === 0) return;
    const heard = heardOf(family, payload);
    if (heard === undefined) return;
    this.#counts.told++;
    this.#report(this.#enriched({ runId, ...heard }, sessionKey, occurredAt));
  }
}

/** The memory for agent runs. The legacy module forgets none; here the runs that were silent longest are forgotten. */
class RememberedRuns {
  readonly contexts: Recent<string, AgentRunContext>;
  /** Runs whose agent.* events somebody else dispatches. */
  readonly driven: Recent<string, true>;
  readonly #seqs: Recent<string, number>;
  /** The arguments of tool calls, until the tools answer. */
  readonly #params: Recent<string, unknown>;

  constructor(maxRuns: number) {
    this.contexts = new Recent(maxRuns);
    this.driven = new Recent(maxRuns);
    this.#seqs = new Recent(maxRuns);
    this.#params = new Recent(maxRuns);
  }

  /** The next number of a run, from 1. It goes on after the run's context is cleared. */
  nextSeq(runId: string): number {
    const seq = (this.#seqs.get(runId) ?? 0) + 1;
    this.#seqs.set(runId, seq);
    return seq;
  }

  /** Adds to what is known of a run: texts that are not empty, and flags that are said. */
  register(runId: string, context: AgentRunContext): void {
    if (!runId) return;
    const known = this.contexts.get(runId) ?? { ...context };
    this.contexts.set(runId, known);
    const { sessionKey, verboseLevel, isHeartbeat, isControlUiVisible } = context;
    if (sessionKey) known.sessionKey = sessionKey;
    if (verboseLevel) known.verboseLevel = verboseLevel;
    if (isHeartbeat !== undefined) known.isHeartbeat = isHeartbeat;
    if (isControlUiVisible !== undefined) known.isControlUiVisible = isControlUiVisible;
  }

  /** The arguments of a tool call, of which its start tells, for its result. */
  paramsOf({ runId, stream, data }: AgentEvent): unknown {
    if (stream !== 'tool' || typeof data?.toolCallId !== 'string') return undefined;
    const key = JSON.stringify([runId, data.toolCallId]);
    if (data.phase === 'start') this.#params.set(key, data.args);
    if (data.phase !== 'result') return undefined;
    const args = this.#params.get(key);
    this.#params.delete(key);
    return args;
  }
}
