import { isThenable, withTimeout } from 'sluice-kernel/internal';
import type { Registered } from './registration.js';

/** The event of a hook could not be copied for its handlers: nothing is decided by what they would share. */
export class IsolationError extends Error {}

/** A copy of an event for handlers that may write to it (event-pipeline §17.28). */
export function isolated<Event extends object>(hook: string, event: Event): Event {
  try {
    if (holdsSharedMemory(event, new Set()))
      throw new TypeError('shared memory cannot be isolated');
    return structuredClone(event);
  } catch (cause) {
    throw new IsolationError(`[hooks] ${hook} mutable input isolation failed`, { cause });
  }
}

/** Returns whether a registration is for a call, by the options that `api.on` takes. */
export function isEligible(registered: Registered, event: object, ctx: object): boolean {
  const { matcher, eligibleTriggers, eligibleDispatchKinds: kinds } = registered;
  const { toolName } = Object(event) as { readonly toolName?: unknown };
  const { trigger, dispatchKind } = Object(ctx) as Readonly<Record<string, unknown>>;
  if (matcher !== undefined && !matcher.some((name) => named(name) === named(toolName)))
    return false;
  if (eligibleTriggers !== undefined && !eligibleTriggers.some((one) => one === trigger))
    return false;
  const isKnown = dispatchKind === 'agent' || dispatchKind === 'acp';
  return kinds === undefined || !isKnown || kinds.includes(dispatchKind);
}

/**
 * Calls a handler, and waits no longer than its budget: its work goes on, and nobody hears of it.
 *
 * @returns its result, or a promise of it that rejects when its time is over. It throws what the handler throws.
 */
export function callHandler(registered: Registered, event: object, ctx: object): unknown {
  const { answer, clock, row } = registered;
  const timeoutMs = budgetOf(registered);
  const invocation = { isActive: true };
  const given = row.tellsInvocation === true ? { ...ctx, ...hookInvocation(invocation) } : ctx;
  const late = (): never => {
    throw new Error(`timed out after ${timeoutMs}ms`);
  };
  let isPending = false;
  try {
    const result = answer(event as never, given as never); // the event of the hook that it is registered for
    if (row.kind === 'sync' || !isThenable(result)) return result;
    isPending = true;
    const settled = timeoutMs === undefined ? result : withTimeout(result, timeoutMs, clock, late);
    return row.tellsInvocation === true ? whenOver(settled, invocation) : settled;
  } finally {
    if (!isPending) invocation.isActive = false;
  }
}

/** The milliseconds that a handler may take; a number that is none of a budget counts as none. */
export function budgetOf(handler: Pick<Registered, 'timeoutMs' | 'row'>): number | undefined {
  const { timeoutMs = 0, row } = handler;
  return Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : row.timeoutMs;
}

function whenOver(settled: PromiseLike<unknown>, invocation: { isActive: boolean }) {
  return Promise.resolve(settled).finally(() => {
    invocation.isActive = false;
  });
}

function hookInvocation(invocation: { readonly isActive: boolean }): object {
  const assertActive = (): void => {
    if (!invocation.isActive) throw new Error('the result of this hook does not count any more');
  };
  return { hookInvocation: Object.freeze({ assertActive }) };
}

function named(name: unknown): string {
  return typeof name === 'string' ? name.trim().toLowerCase() : '';
}

function holdsSharedMemory(value: unknown, seen: Set<unknown>): boolean {
  if (value instanceof SharedArrayBuffer) return true;
  if (ArrayBuffer.isView(value)) return value.buffer instanceof SharedArrayBuffer;
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  const inside =
    value instanceof Map
      ? [...value].flat()
      : value instanceof Set
        ? [...value]
        : Object.values(Object.getOwnPropertyDescriptors(value)).map((one) => one.value as unknown);
  return inside.some((one) => holdsSharedMemory(one, seen));
}
