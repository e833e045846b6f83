import {
  type Call,
  type Kernel,
  type Outcome,
  openKernel,
  silentLogger,
  systemClock,
  unfailing,
  withTimeout,
} from 'sluice-kernel/internal';
import { announce } from '../facts/announce.js';
import { contributeAll } from '../facts/contribute-all.js';
import { isOfLegacyHost } from '../facts/legacy-source.js';
import { sameFact } from '../facts/same-fact.js';
import { plainRecords } from '../facts/plain-records.js';
import { contributionsOf, type Registration } from './contribute-hook.js';
import {
  createInternalHookEvent,
  type InternalHookEvent,
  type InternalHookHandler,
} from './event.js';
import { type HookTrigger, hookTrigger } from './hook-trigger.js';
import type { InternalHookOptions, InternalHooks } from './internal-hooks.js';
import type { InternalHookRow, InternalHookSink, SourceStep } from './row.js';
import { rowOf } from './rows.js';

/** A trigger on its way through the kernel. */
interface Origin {
  readonly row: InternalHookRow;
  readonly trigger: HookTrigger;
}

/** The bus itself: one per kernel. `InternalHooks` describes it. */
export function internalHookBus(on: Kernel, options: InternalHookOptions): InternalHooks {
  const { extensionId = 'internal-hooks', handlerTimeoutMs: timeoutMs = 60_000 } = options;
  const { clock = systemClock } = options;
  const kernel = openKernel(on);
  const facts = sameFact(on, { clock });
  const logger = unfailing(options.logger ?? silentLogger);
  const scope = { extensionId, timeoutMs, triggerOf };
  const registered = registrations((registration) =>
    contributeAll(kernel, contributionsOf(scope, registration)),
  );
  /** The triggers that are being dispatched, by the metadata of their dispatches. */
  const origins = new WeakMap<object, Origin>();
  /** The events made of other dispatches, by envelope and row. */
  const triggers = new WeakMap<object, Map<InternalHookRow, HookTrigger | undefined>>();
  const misfits = new Set<InternalHookRow>();
  const counts = { triggered: 0, dispatched: 0, joined: 0, carried: 0, misfits: 0, failures: 0 };

  /** Checks the payloads of the dispatches that a trigger becomes; nothing if it becomes none. */
  function checked(row: InternalHookRow, event: InternalHookEvent): SourceStep[] | undefined {
    try {
      return row.source?.(event).map((step) => ({
        ...step,
        payload: kernel.parsePayload(step.family, plainRecords(step.payload)),
      }));
    } catch (error) {
      counts.misfits++;
      if (!misfits.has(row))
        logger.warn(
          `${row.type}:${row.action} is no canonical event; its handlers are called all the same`,
          { error },
        );
      misfits.add(row); // told once per key
      return undefined;
    }
  }

  /** Dispatches a trigger. Gives the replies of its stages, or nothing if its handlers were not reached. */
  async function dispatch(
    row: InternalHookRow,
    trigger: HookTrigger,
    steps: readonly SourceStep[],
  ): Promise<readonly string[] | undefined> {
    const metadata = { legacyBus: 'internal-hooks', key: `${row.type}:${row.action}` };
    origins.set(metadata, { row, trigger });
    let last: Outcome | undefined;
    let reached = false;
    try {
      for (const { family, payload, given } of steps) {
        const after = last === undefined ? {} : { after: last };
        last = await announce(facts, 'internal-hooks', family, payload, () => {
          reached = true;
          counts.dispatched++;
          return kernel.dispatch(family, payload, { ...given, ...after, metadata });
        });
      }
    } catch (error) {
      logger.warn(`${metadata.key} was not dispatched`, { error });
      return undefined; // refused before any handler was called
    }
    if (!reached) counts.joined++;
    if (!reached && row.ownEventOnly === true) return undefined;
    if (last !== undefined) await triggers.get(last.event)?.get(row)?.settled(); // where it joined
    const { replies = [] } = (last?.annotations ?? {}) as { readonly replies?: readonly string[] };
    return replies; // the stages of commands have such
  }

  /** Calls the handlers of an event outside of the canonical families. The trigger logs a handler that fails. */
  async function carry(trigger: HookTrigger): Promise<void> {
    counts.carried++;
    const { type, action } = trigger.event;
    for (const hear of registered.handlersOf(type, action))
      try {
        const settling = trigger.call(hear);
        if (settling !== undefined) await withTimeout(settling, timeoutMs, clock, () => undefined);
      } catch {
        // the other handlers are called all the same
      }
  }

  /** Finds the trigger of a dispatch for a row: the origin that announced it, or one made of the envelope, once. */
  function triggerOf(row: InternalHookRow, sink: InternalHookSink, call: Call) {
    const { event } = call;
    const origin = origins.get(event.metadata);
    if (origin !== undefined) return origin.row === row ? origin.trigger : undefined;
    const made = triggers.get(event) ?? new Map<InternalHookRow, HookTrigger | undefined>();
    triggers.set(event, made);
    if (!made.has(row)) made.set(row, madeOf(row, sink, call));
    return made.get(row);
  }

  function madeOf(row: InternalHookRow, sink: InternalHookSink, call: Call) {
    if (row.ownEventOnly === true && isOfLegacyHost(call.event)) return undefined;
    const content = sink.content(call);
    if (content === undefined) return undefined;
    const { sessionKey, context } = content;
    return newTrigger(
      createInternalHookEvent(row.type, row.action, sessionKey, context, call.event.occurredAt),
    );
  }

  const newTrigger = (event: InternalHookEvent): HookTrigger =>
    hookTrigger(event, logger, () => void counts.failures++);

  return {
    registerInternalHook: registered.add,
    unregisterInternalHook: registered.remove,
    clearInternalHooks: registered.clear,
    getRegisteredEventKeys: registered.keys,
    createInternalHookEvent: (type, action, sessionKey, context = {}) =>
      createInternalHookEvent(type, action, sessionKey, context, clock.now()),
    async triggerInternalHook(event) {
      counts.triggered++;
      const trigger = newTrigger(event);
      const row = rowOf(event.type, event.action);
      const steps = row === undefined ? undefined : checked(row, event);
      if (row === undefined || steps === undefined) return carry(trigger);
      const replies = await dispatch(row, trigger, steps);
      if (replies === undefined) return carry(trigger);
      await trigger.settled();
      trigger.addReplies(replies);
    },
    stats: () => ({ handlers: registered.size(), ...counts }),
    [Symbol.dispose]: registered.clear,
  };
}

interface Live extends Registration {
  readonly contributions: Disposable;
}

/** The handlers that are registered on the bus, by key and in order. */
function registrations(contribute: (registration: Registration) => Disposable) {
  const byKey = new Map<string, Live[]>();
  let next = 0;
  return {
    size: (): number => [...byKey.values()].reduce((sum, { length }) => sum + length, 0),
    keys: (): string[] => [...byKey.keys()],
    add(key: string, handler: InternalHookHandler, owner?: string): void {
      const registration = { key, handler, index: next++, owner };
      const live = { ...registration, contributions: contribute(registration) };
      const all = byKey.get(key);
      if (all === undefined) byKey.set(key, [live]);
      else all.push(live);
    },
    remove(key: string, handler: InternalHookHandler): void {
      const all = byKey.get(key) ?? [];
      const at = all.findIndex((live) => live.handler === handler);
      if (at < 0) return;
      for (const { contributions } of all.splice(at, 1)) contributions[Symbol.dispose]();
      if (all.length === 0) byKey.delete(key);
    },
    clear(): void {
      for (const all of byKey.values())
        for (const { contributions } of all) contributions[Symbol.dispose]();
      byKey.clear();
    },
    /** The handlers of an event as they are now: those of its type, then those of its action. */
    handlersOf: (type: string, action: string): readonly InternalHookHandler[] =>
      [type, `${type}:${action}`]
        .flatMap((key) => byKey.get(key) ?? [])
        .map(({ handler }) => handler),
  };
}
