import {
  type Call,
  type Clock,
  definedFields,
  getOrMake,
  type Kernel,
  type Outcome,
  systemClock,
  withTimeout,
} from 'sluice-kernel/internal';
import { type Announcement, isOfLegacyHost, LegacyBus, sharedBus } from '../facts/legacy-bus.js';
import { contributionsOf, type Registration } from './contribute-hook.js';
import { createInternalHookEvent, type InternalHookEvent } from './event.js';
import { type HookTrigger, hookTrigger } from './hook-trigger.js';
import type { InternalHookOptions, InternalHookStats, InternalHooks } from './internal-hooks.js';
import type { InternalHookRow, InternalHookSink } from './row.js';
import { rowOf } from './rows.js';

/**
 * Puts the internal hook bus on a kernel. Handlers of one event run in the legacy order (those of the type, then those
 * of the action, each in order of registration), awaited one by one, on one mutable event; a canonical event that
 * somebody else dispatches reaches them too, as an event made of its envelope.
 *
 * A kernel has one such bus, as a legacy process has: each call gives access to the same, and options count at the
 * first. Disposing takes the handlers away that were registered through it, and after the last the bus.
 *
 * @throws SluiceError from `registerInternalHook`, as `kernel.contribute` throws.
 * @example
 * const hooks = bridgeInternalHooks(kernel, { logger });
 * hooks.registerInternalHook('command:new', (event) => void event.messages.push('Saved.'));
 * const event = hooks.createInternalHookEvent('command', 'new', 'agent:main:main', { commandSource: 'telegram' });
 * await hooks.triggerInternalHook(event); // command.received
 * event.messages; // ['Saved.']
 */
export function bridgeInternalHooks(
  kernel: Kernel,
  options: InternalHookOptions = {},
): InternalHooks {
  const { bus, user, leave } = join(kernel, options);
  return {
    registerInternalHook: (key, handler, owner) => bus.add({ key, handler, owner, user }),
    unregisterInternalHook: (key, handler) => bus.remove(key, (one) => one.handler === handler),
    clearInternalHooks: () => bus.clear(),
    getRegisteredEventKeys: () => bus.keys(),
    triggerInternalHook: (event) => bus.trigger(event),
    createInternalHookEvent: (type, action, sessionKey, context) =>
      createInternalHookEvent(type, action, sessionKey, context, bus.clock.now()),
    stats: () => bus.stats(),
    [Symbol.dispose]: () => {
      bus.clear(user);
      leave();
    },
  };
}

const join = sharedBus(
  (kernel, options: InternalHookOptions) => new InternalHookBus(kernel, options),
);

interface Live extends Registration {
  readonly contributions: Disposable;
}

/** The internal hook bus of a kernel. `InternalHooks` describes it. */
class InternalHookBus
  extends LegacyBus<InternalHookRow, HookTrigger | undefined>
  implements Disposable
{
  readonly extensionId: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** The handlers that are registered, by key and in order. */
  readonly #byKey = new Map<string, Live[]>();
  #next = 0;
  readonly #counts = { triggered: 0, joined: 0, carried: 0 };

  constructor(on: Kernel, options: InternalHookOptions) {
    super(on, 'internal-hooks', options.logger);
    this.extensionId = options.extensionId ?? 'internal-hooks';
    this.timeoutMs = options.handlerTimeoutMs ?? 60_000;
    this.clock = options.clock ?? systemClock;
    this.facts(this.clock);
  }

  stats(): InternalHookStats {
    const handlers = [...this.#byKey.values()].flat().length;
    return { handlers, ...this.#counts, ...this.counts };
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  add(given: Omit<Registration, 'index'>): void {
    const registration = { ...given, index: this.#next++ };
    const contributions = this.contribute(contributionsOf(this, registration));
    getOrMake(this.#byKey, given.key, (): Live[] => []).push({ ...registration, contributions });
  }

  /** Takes the first registration back that fits. */
  remove(key: string, fits: (one: Registration) => boolean): void {
    const all = this.#byKey.get(key) ?? [];
    const at = all.findIndex(fits);
    if (at < 0) return;
    for (const { contributions } of all.splice(at, 1)) contributions[Symbol.dispose]();
    if (all.length === 0) this.#byKey.delete(key);
  }

  /** Takes the registrations of a user back; those of all by default. */
  clear(user?: object): void {
    for (const [key, all] of this.#byKey) {
      const left = all.filter((one) => user !== undefined && one.user !== user);
      for (const one of all) if (!left.includes(one)) one.contributions[Symbol.dispose]();
      if (left.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, left);
    }
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  /** `InternalHooks.triggerInternalHook`. */
  async trigger(event: InternalHookEvent): Promise<void> {
    this.#counts.triggered++;
    const trigger = this.#newTrigger(event);
    const row = rowOf(event.type, event.action);
    const replies = row && (await this.#dispatch(row, trigger));
    if (replies === undefined) return this.#carry(trigger);
    await trigger.settled();
    trigger.addReplies(replies);
  }

  /**
   * Finds the trigger of a dispatch for a row: the host's, or one made of the envelope, once. Nothing if the legacy system
   * would fire none.
   */
  triggerOf(row: InternalHookRow, sink: InternalHookSink, call: Call): HookTrigger | undefined {
    const { event } = call;
    const origin = this.announced(event);
    if (origin !== undefined) return origin.row === row ? origin.call : undefined;
    return this.madeOf(row, event, () => {
      if (row.ownEventOnly === true && isOfLegacyHost(event)) return undefined;
      const content = sink.content(call);
      if (content === undefined) return undefined;
      const { sessionKey, context } = content;
      const { type, action } = row;
      return this.#newTrigger(
        createInternalHookEvent(type, action, sessionKey, context, event.occurredAt),
      );
    });
  }

  /** The checked dispatches of a trigger; nothing if it becomes none. */
  #stepsOf(row: InternalHookRow, event: InternalHookEvent): Announcement[] | undefined {
    try {
      return row.source?.(event).map((step) => this.checked(step));
    } catch (error) {
      const key = `${row.type}:${row.action}`;
      this.misfit(row, `${key} is no canonical event; its handlers are called all the same`, error);
      return undefined;
    }
  }

  /** Dispatches a trigger. Gives the replies of its stages, or nothing if its handlers were not reached. */
  async #dispatch(row: InternalHookRow, trigger: HookTrigger) {
    const steps = this.#stepsOf(row, trigger.event);
    if (steps === undefined) return undefined;
    const metadata = { legacyBus: 'internal-hooks', key: `${row.type}:${row.action}` };
    this.note(metadata, row, trigger);
    let last: Outcome | undefined;
    let reached = false;
    try {
      for (const { given, ...step } of steps) {
        const more = { ...definedFields({ after: last }), metadata };
        last = await this.announce({ ...step, given: { ...given, ...more } });
        reached ||= last.event.metadata === metadata;
      }
    } catch (error) {
      this.logger.warn(`${metadata.key} was not dispatched`, { error });
      return undefined; // refused before any handler was called
    }
    if (!reached) this.#counts.joined++;
    if (!reached && row.ownEventOnly === true) return undefined;
    if (last !== undefined) await this.alreadyMade(row, last.event)?.settled(); // where it joined
    const { replies = [] } = (last?.annotations ?? {}) as { readonly replies?: readonly string[] };
    return replies; // the stages of commands have such
  }

  /** Calls the handlers of an event outside of the canonical families. The trigger logs a handler that fails. */
  async #carry(trigger: HookTrigger): Promise<void> {
    this.#counts.carried++;
    const { type, action } = trigger.event;
    const keys = [type, `${type}:${action}`];
    for (const { handler } of keys.flatMap((key) => this.#byKey.get(key) ?? []))
      try {
        const settling = trigger.call(handler);
        if (settling !== undefined)
          await withTimeout(settling, this.timeoutMs, this.clock, () => undefined);
      } catch {
        // the other handlers are called all the same
      }
  }

  #newTrigger(event: InternalHookEvent): HookTrigger {
    return hookTrigger(event, this.logger, () => void this.counts.failures++);
  }
}
