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
import { isOfLegacyHost, LegacyBus } from '../facts/legacy-bus.js';
import type { AgentEventsOptions, AgentEventsStats } from './agent-events.js';
import type { AgentEvent, AgentEventInput, AgentEventListener } from './event.js';
import { RememberedRuns } from './remembered-runs.js';
import type { AgentEventRow } from './row.js';
import { heardFamilies, heardOf, rowOf } from './rows.js';

/** Before every handler that may wait: a listener hears of a thing when it begins. */
const sinkPriority = 1_000_000;

/** The agent event bus of a kernel. `AgentEvents` describes it. */
export class AgentEventBus extends LegacyBus<AgentEventRow, never> implements Disposable {
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
