import { type Fields, isThenable, silentLogger, unfailing } from 'sluice-kernel/internal';
import type { ReplyCallbackFunctions, ReplyCallbackOptions } from './reply-options.js';
import type { ReplyEventStream } from './reply-payload.js';

type CallbackName = keyof ReplyCallbackFunctions;
type Payload<Name extends CallbackName> = Parameters<NonNullable<ReplyCallbackFunctions[Name]>>;

/**
 * The one place that calls a host's callbacks, in one order. One that throws or rejects is logged and stops nothing.
 * After `close` none is called.
 */
export function replyEmitter(options: ReplyCallbackOptions) {
  let later: (() => void)[] = [];
  let isClosed = false;
  const { runId, sessionId, sessionKey, order, emitAgentEvent } = options;
  const logger = unfailing(options.logger ?? silentLogger); // the run goes on
  /** The order of seed 001, unless the other one is asked for. */
  const isSeedOrder = order !== 'openclaw';
  const trace = Object.freeze(sessionId === undefined ? { runId } : { runId, sessionId });

  /** Calls a callback. What it returns settles with it, and never rejects; nothing if it is not async. */
  function call<Name extends CallbackName>(
    name: Name,
    ...payload: Payload<Name>
  ): Promise<void> | undefined {
    const callback = options[name] as ((...given: Payload<Name>) => unknown) | undefined; // keyed by the same name
    if (callback === undefined) return undefined;
    return run(name, () => callback(...payload));
  }

  /** Calls anything else that a host gave, with the same care. */
  function run(name: string, call: () => unknown): Promise<void> | undefined {
    if (isClosed) return undefined;
    logger.debug('reply callback', { ...trace, callback: name });
    try {
      const returned = call();
      if (!isThenable(returned)) return undefined;
      return Promise.resolve(returned).then(undefined, (error: unknown) => failed(name, error));
    } catch (error) {
      failed(name, error);
      return undefined;
    }
  }

  /** Calls a hook of a host that is no callback, if the host gave it. */
  function runHook<Given extends readonly unknown[]>(
    name: string,
    hook: ((...given: Given) => unknown) | undefined,
    ...given: Given
  ): void {
    if (hook !== undefined) void run(name, () => hook(...given));
  }

  function failed(name: string, error: unknown): void {
    logger.error('a reply callback failed', { ...trace, callback: name, error });
  }

  return {
    isSeedOrder,
    isClosed: (): boolean => isClosed,
    /** Logs a session event as it comes. */
    traceEvent(type: string): void {
      logger.debug('session event', { ...trace, type });
    },
    has(name: CallbackName): boolean {
      return options[name] !== undefined;
    },
    call,
    /** Calls it after the other callbacks of the same event: block replies, unless the order is the seed's. */
    callLater<Name extends CallbackName>(name: Name, ...payload: Payload<Name>): void {
      if (isSeedOrder) void call(name, ...payload);
      else later.push(() => void call(name, ...payload));
    },
    /** Calls what waits for the end of the event. */
    callWaiting(): void {
      if (later.length === 0) return;
      const waiting = later;
      later = [];
      for (const call of waiting) call();
    },
    /** Tells of an event in the run: with all of its data, then, unless told otherwise, the host with what it may see. */
    report(stream: ReplyEventStream, data: Fields, hidden: Fields = {}, isForHost = true): void {
      if (emitAgentEvent !== undefined) {
        const session = sessionKey === undefined ? {} : { sessionKey };
        const all = { ...data, ...hidden };
        runHook('emitAgentEvent', emitAgentEvent, { runId, ...session, stream, data: all });
      }
      if (isForHost) void call('onAgentEvent', { stream, data });
    },
    runHook,
    close(): void {
      isClosed = true;
      later = [];
    },
  };
}

/** The parts of `replyEmitter` that others use. */
export type ReplyEmitter = ReturnType<typeof replyEmitter>;
