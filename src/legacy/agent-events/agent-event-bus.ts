import {
  type Call,
  type Clock,
  definedFields,
  type Envelope,
  type FamilyName,
  isThenable,
  type Kernel,
  type Logger,
  type OpenKernel,
  type Outcome,
  openKernel,
  silentLogger,
  systemClock,
  unfailing,
} from '../../kernel/index.js';
import { announce } from '../facts/announce.js';
import { contributeAll } from '../facts/contribute-all.js';
import { isOfLegacyHost } from '../facts/legacy-source.js';
import { type SameFact, sameFact } from '../facts/same-fact.js';
import { plainRecords } from '../hooks/plain-records.js';
import type { AgentEvents, AgentEventsOptions, AgentEventsStats } from './agent-events.js';
import type { AgentEvent, AgentEventInput, AgentEventListener, AgentRunContext } from './event.js';
import type { AgentEventRow } from './row.js';
import { heardFamilies, heardOf, rowOf } from './rows.js';
import { Runs } from './runs.js';

/** Before every handler that may wait: a listener hears of a thing when it begins. */
const sinkPriority = 1_000_000;

/** The bus itself: one per kernel. `AgentEvents` describes it. */
export class AgentEventBus implements AgentEvents {
  readonly #kernel: OpenKernel;
  readonly #facts: SameFact;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #runs: Runs;
  /** In order of registration. */
  readonly #listeners = new Set<AgentEventListener>();
  readonly #sinks: Disposable;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #misfits = new Set<AgentEventRow>();
  readonly #counts = {
    emitted: 0,
    dispatched: 0,
    left: 0,
    unmapped: 0,
    misfits: 0,
    told: 0,
    failures: 0,
  };

  constructor(kernel: Kernel, options: AgentEventsOptions) {
    const { extensionId = 'agent-events', clock = systemClock, maxRuns = 10_000 } = options;
    this.#kernel = openKernel(kernel);
    this.#clock = clock;
    this.#facts = sameFact(kernel, { clock });
    this.#logger = unfailing(options.logger ?? silentLogger);
    this.#runs = new Runs(maxRuns);
    this.#sinks = contributeAll(
      this.#kernel,
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

  emitAgentEvent(event: AgentEventInput): void {
    this.#counts.emitted++;
    const enriched = this.#enriched(event, event.sessionKey, this.#clock.now());
    this.#tell(enriched);
    const row = rowOf(event.stream, event.data);
    const part = row?.parts[0];
    if (row === undefined || part === undefined) this.#counts.unmapped++;
    else this.#dispatch(row, part.family, enriched);
  }

  onAgentEvent(listener: AgentEventListener): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  registerAgentRunContext(runId: string, context: AgentRunContext): void {
    this.#runs.register(runId, context);
  }

  getAgentRunContext(runId: string): AgentRunContext | undefined {
    return this.#runs.context(runId);
  }

  clearAgentRunContext(runId: string): void {
    this.#runs.clear(runId);
  }

  async idle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  stats(): AgentEventsStats {
    return { listeners: this.#listeners.size, ...this.#counts };
  }

  [Symbol.dispose](): void {
    this.#sinks[Symbol.dispose]();
    this.#listeners.clear();
  }

  /** Calls every listener, also those that another one adds meanwhile: a set walks over them, too. */
  #tell(event: AgentEvent): void {
    const failed = (error: unknown): void => {
      this.#counts.failures++;
      this.#logger.debug('an agent event listener failed', { error });
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
    const context = this.#runs.context(event.runId);
    const own = typeof said === 'string' && said.trim() !== '' ? said : undefined;
    const isVisible = context?.isControlUiVisible ?? true;
    const sessionKey = isVisible ? (own ?? context?.sessionKey) : undefined;
    return { ...event, sessionKey, seq: this.#runs.nextSeq(event.runId), ts };
  }

  #dispatch(row: AgentEventRow, family: string, event: AgentEvent): void {
    const params = this.#paramsOf(event);
    const isLeft = row.leftToHooks === true && this.#facts.isAttached('plugin-hooks');
    if (isLeft || this.#runs.isDriven(event.runId)) {
      this.#counts.left++;
      return;
    }
    try {
      const context = this.#runs.context(event.runId) ?? {};
      const sessionKey = event.sessionKey ?? context.sessionKey;
      const { runId, seq: sourceSeq, data } = event;
      const told = row.payload?.({ event, data, context, params }) ?? {};
      const payload = this.#kernel.parsePayload(
        family,
        plainRecords({ ...told, runId, sourceSeq, ...definedFields({ sessionKey }) }),
      );
      this.#begin(row, family, payload, event);
    } catch (error) {
      this.#misfit(row, error);
    }
  }

  #begin(row: AgentEventRow, family: string, payload: object, { stream, ts }: AgentEvent): void {
    const metadata = { legacyBus: 'agent-events', stream };
    const gate = row.observeOnly === true ? { gate: 'observe-only' as const } : {};
    const given = { ...gate, occurredAt: ts, metadata };
    if (family === 'agent.output.delta') {
      this.#counts.dispatched++;
      this.#kernel.dispatchSync(family, payload, given);
      return;
    }
    const begin = (): Promise<Outcome> => {
      this.#counts.dispatched++;
      return this.#kernel.dispatch(family, payload, given);
    };
    const pending = announce(this.#facts, 'agent-events', family, payload, begin).catch(
      (error: unknown) => this.#misfit(row, error),
    );
    this.#pending.add(pending);
    void pending.finally(() => this.#pending.delete(pending));
  }

  /** Keeps the arguments of a tool call, which its start tells and its result needs. */
  #paramsOf({ runId, stream, data }: AgentEvent): unknown {
    if (stream !== 'tool' || typeof data?.toolCallId !== 'string') return undefined;
    if (data.phase === 'start') this.#runs.keepParams(runId, data.toolCallId, data.args);
    return data.phase === 'result' ? this.#runs.takeParams(runId, data.toolCallId) : undefined;
  }

  #misfit(row: AgentEventRow, error: unknown): void {
    this.#counts.misfits++;
    if (this.#misfits.has(row)) return;
    this.#misfits.add(row); // told once per row
    const what = row.phase === undefined ? row.stream : `${row.stream} ${row.phase}`;
    this.#logger.warn(`the agent event ${what} was not dispatched`, { error });
  }

  /** Tells the listeners of a dispatch that somebody else made. That one drives the run. */
  #observe(family: FamilyName, event: Envelope): void {
    if (isOfLegacyHost(event)) return; // this bus dispatched it, or its host emits an event for it itself
    const { payload, occurredAt } = event;
    const { runId, sessionKey } = payload as { runId?: string; sessionKey?: string }; // a run's payload
    if (runId === undefined) return;
    this.#runs.markDriven(runId);
    if (this.#listeners.size === 0) return;
    const heard = heardOf(family, payload);
    if (heard === undefined) return;
    this.#counts.told++;
    this.#tell(this.#enriched({ runId, ...heard }, sessionKey, occurredAt));
  }
}
