import {
  type Call,
  type Clock,
  type Kernel,
  type Logger,
  type OpenKernel,
  type Outcome,
  openKernel,
  silentLogger,
  systemClock,
  unfailing,
  withTimeout,
} from '../../kernel/index.js';
import { announce } from '../facts/announce.js';
import { contributeAll } from '../facts/contribute-all.js';
import { isOfLegacyHost } from '../facts/legacy-source.js';
import { type SameFact, sameFact } from '../facts/same-fact.js';
import { plainRecords } from '../hooks/plain-records.js';
import { contributionsOf } from './contribute-hook.js';
import {
  createInternalHookEvent,
  type InternalHookEvent,
  type InternalHookHandler,
  type InternalHookType,
} from './event.js';
import { HookTrigger } from './hook-trigger.js';
import type { InternalHookOptions, InternalHookStats, InternalHooks } from './internal-hooks.js';
import { Registrations } from './registrations.js';
import type { InternalHookRow, InternalHookSink, SourceStep } from './row.js';
import { rowOf } from './rows.js';

/** A trigger on its way through the kernel. */
interface Origin {
  readonly row: InternalHookRow;
  readonly trigger: HookTrigger;
}

/** The bus itself: one per kernel. `InternalHooks` describes it. */
export class InternalHookBus implements InternalHooks {
  readonly #kernel: OpenKernel;
  readonly #facts: SameFact;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #timeoutMs: number;
  readonly #registrations: Registrations;
  /** The triggers that are being dispatched, by the metadata of their dispatches. */
  readonly #origins = new WeakMap<object, Origin>();
  /** The events made of other dispatches, by envelope and row. */
  readonly #triggers = new WeakMap<object, Map<InternalHookRow, HookTrigger | undefined>>();
  readonly #misfits = new Set<InternalHookRow>();
  readonly #counts = {
    triggered: 0,
    dispatched: 0,
    joined: 0,
    carried: 0,
    misfits: 0,
    failures: 0,
  };

  constructor(kernel: Kernel, options: InternalHookOptions) {
    const { extensionId = 'internal-hooks', handlerTimeoutMs = 60_000 } = options;
    this.#kernel = openKernel(kernel);
    this.#clock = options.clock ?? systemClock;
    this.#facts = sameFact(kernel, { clock: this.#clock });
    this.#logger = unfailing(options.logger ?? silentLogger);
    const scope = {
      extensionId,
      timeoutMs: handlerTimeoutMs,
      triggerOf: (row: InternalHookRow, sink: InternalHookSink, call: Call) =>
        this.#triggerOf(row, sink, call),
    };
    this.#timeoutMs = handlerTimeoutMs;
    this.#registrations = new Registrations((registration) =>
      contributeAll(this.#kernel, contributionsOf(scope, registration)),
    );
  }

  registerInternalHook(eventKey: string, handler: InternalHookHandler, owner?: string): void {
    this.#registrations.add(eventKey, handler, owner);
  }

  unregisterInternalHook(eventKey: string, handler: InternalHookHandler): void {
    this.#registrations.remove(eventKey, handler);
  }

  clearInternalHooks(): void {
    this.#registrations.clear();
  }

  getRegisteredEventKeys(): string[] {
    return this.#registrations.keys();
  }

  createInternalHookEvent(
    type: InternalHookType,
    action: string,
    sessionKey: string,
    context: Record<string, unknown> = {},
  ): InternalHookEvent {
    return createInternalHookEvent(type, action, sessionKey, context, this.#clock.now());
  }

  async triggerInternalHook(event: InternalHookEvent): Promise<void> {
    this.#counts.triggered++;
    const trigger = this.#newTrigger(event);
    const row = rowOf(event.type, event.action);
    const steps = row === undefined ? undefined : this.#checked(row, event);
    if (row === undefined || steps === undefined) return this.#carry(trigger);
    const replies = await this.#dispatch(row, trigger, steps);
    if (replies === undefined) return this.#carry(trigger);
    await trigger.settled();
    trigger.addReplies(replies);
  }

  stats(): InternalHookStats {
    return { handlers: this.#registrations.size, ...this.#counts };
  }

  [Symbol.dispose](): void {
    this.clearInternalHooks();
  }

  /** Checks the payloads of the dispatches that a trigger becomes; nothing if it becomes none. */
  #checked(row: InternalHookRow, event: InternalHookEvent): SourceStep[] | undefined {
    try {
      return row.source?.(event).map((step) => ({
        ...step,
        payload: this.#kernel.parsePayload(step.family, plainRecords(step.payload)),
      }));
    } catch (error) {
      this.#counts.misfits++;
      if (!this.#misfits.has(row))
        this.#logger.warn(
          `${row.type}:${row.action} is no canonical event; its handlers are called all the same`,
          { error },
        );
      this.#misfits.add(row); // told once per key
      return undefined;
    }
  }

  /** Dispatches a trigger. Gives the replies of its stages, or nothing if its handlers were not reached. */
  async #dispatch(
    row: InternalHookRow,
    trigger: HookTrigger,
    steps: readonly SourceStep[],
  ): Promise<readonly string[] | undefined> {
    const metadata = { legacyBus: 'internal-hooks', key: `${row.type}:${row.action}` };
    this.#origins.set(metadata, { row, trigger });
    let last: Outcome | undefined;
    let reached = false;
    try {
      for (const { family, payload, given } of steps) {
        const after = last === undefined ? {} : { after: last };
        const begin = (): Promise<Outcome> => {
          reached = true;
          this.#counts.dispatched++;
          return this.#kernel.dispatch(family, payload, { ...given, ...after, metadata });
        };
        last = await announce(this.#facts, 'internal-hooks', family, payload, begin);
      }
    } catch (error) {
      this.#logger.warn(`${metadata.key} was not dispatched`, { error });
      return undefined; // refused before any handler was called
    }
    if (!reached) this.#counts.joined++;
    if (!reached && row.ownEventOnly === true) return undefined;
    if (last !== undefined) await this.#triggers.get(last.event)?.get(row)?.settled(); // where it joined
    const { replies = [] } = (last?.annotations ?? {}) as { readonly replies?: readonly string[] };
    return replies; // the stages of commands have such
  }

  /** Calls the handlers of an event outside of the canonical families. The trigger logs a handler that fails. */
  async #carry(trigger: HookTrigger): Promise<void> {
    this.#counts.carried++;
    const { type, action } = trigger.event;
    for (const hear of this.#registrations.handlersOf(type, action))
      try {
        const settling = trigger.call(hear);
        if (settling !== undefined)
          await withTimeout(settling, this.#timeoutMs, this.#clock, () => undefined);
      } catch {
        // the other handlers are called all the same
      }
  }

  /** Finds the trigger of a dispatch for a row: the origin that announced it, or one made of the envelope, once. */
  #triggerOf(row: InternalHookRow, sink: InternalHookSink, call: Call): HookTrigger | undefined {
    const { event } = call;
    const origin = this.#origins.get(event.metadata);
    if (origin !== undefined) return origin.row === row ? origin.trigger : undefined;
    const made = this.#triggers.get(event) ?? new Map<InternalHookRow, HookTrigger | undefined>();
    this.#triggers.set(event, made);
    if (!made.has(row)) made.set(row, this.#madeOf(row, sink, call));
    return made.get(row);
  }

  #madeOf(row: InternalHookRow, sink: InternalHookSink, call: Call): HookTrigger | undefined {
    if (row.ownEventOnly === true && isOfLegacyHost(call.event)) return undefined;
    const content = sink.content(call);
    if (content === undefined) return undefined;
    const { sessionKey, context } = content;
    return this.#newTrigger(
      createInternalHookEvent(row.type, row.action, sessionKey, context, call.event.occurredAt),
    );
  }

  #newTrigger(event: InternalHookEvent): HookTrigger {
    return new HookTrigger(event, {
      logger: this.#logger,
      failed: () => {
        this.#counts.failures++;
      },
    });
  }
}
