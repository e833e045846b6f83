import { type Fields, isThenable, type Logger, silentLogger } from '../../../kernel/index.js';
import type { ReplyCallbackFunctions, ReplyCallbackOptions } from './reply-options.js';
import type { ReplyEventStream } from './reply-payload.js';

type CallbackName = keyof ReplyCallbackFunctions;
type Payload<Name extends CallbackName> = Parameters<NonNullable<ReplyCallbackFunctions[Name]>>;

/**
 * The one place that calls a host's callbacks, in one order. One that throws or rejects is logged and stops nothing.
 * After `close` none is called.
 */
export class ReplyEmitter {
  /** The order of seed 001, instead of the one that hosts come from. */
  readonly isSeedOrder: boolean;
  readonly #options: ReplyCallbackOptions;
  readonly #logger: Logger;
  readonly #trace: Fields;
  #later: (() => void)[] = [];
  #isClosed = false;

  constructor(options: ReplyCallbackOptions) {
    const { runId, sessionId, logger = silentLogger, order } = options;
    this.isSeedOrder = order === 'seed';
    this.#options = options;
    this.#logger = logger;
    this.#trace = Object.freeze(sessionId === undefined ? { runId } : { runId, sessionId });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Logs a session event as it comes. */
  traceEvent(type: string): void {
    this.#log('debug', 'session event', { type });
  }

  has(name: CallbackName): boolean {
    return this.#options[name] !== undefined;
  }

  /** Calls a callback. What it returns settles with it, and never rejects; nothing if it is not async. */
  call<Name extends CallbackName>(
    name: Name,
    ...payload: Payload<Name>
  ): Promise<void> | undefined {
    const callback = this.#options[name] as ((...given: Payload<Name>) => unknown) | undefined; // keyed by the same name
    if (callback === undefined) return undefined;
    return this.run(name, () => callback(...payload));
  }

  /** Calls it after the other callbacks of the same event: block replies, unless the order is the seed's. */
  callLater<Name extends CallbackName>(name: Name, ...payload: Payload<Name>): void {
    if (this.isSeedOrder) void this.call(name, ...payload);
    else this.#later.push(() => void this.call(name, ...payload));
  }

  /** Calls what waits for the end of the event. */
  callWaiting(): void {
    if (this.#later.length === 0) return;
    const waiting = this.#later;
    this.#later = [];
    for (const call of waiting) call();
  }

  /** Tells of an event in the run: with all of its data, then, unless told otherwise, the host with what it may see. */
  report(stream: ReplyEventStream, data: Fields, hidden: Fields = {}, isForHost = true): void {
    const { runId, sessionKey, emitAgentEvent } = this.#options;
    if (emitAgentEvent !== undefined) {
      const session = sessionKey === undefined ? {} : { sessionKey };
      const all = { ...data, ...hidden };
      this.runHook('emitAgentEvent', emitAgentEvent, { runId, ...session, stream, data: all });
    }
    if (isForHost) void this.call('onAgentEvent', { stream, data });
  }

  /** Calls anything else that a host gave, with the same care. */
  run(name: string, call: () => unknown): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    this.#log('debug', 'reply callback', { callback: name });
    try {
      const returned = call();
      if (!isThenable(returned)) return undefined;
      return Promise.resolve(returned).then(undefined, (error: unknown) =>
        this.#failed(name, error),
      );
    } catch (error) {
      this.#failed(name, error);
      return undefined;
    }
  }

  /** Calls a hook of a host that is no callback, if the host gave it. */
  runHook<Given extends readonly unknown[]>(
    name: string,
    hook: ((...given: Given) => unknown) | undefined,
    ...given: Given
  ): void {
    if (hook !== undefined) void this.run(name, () => hook(...given));
  }

  close(): void {
    this.#isClosed = true;
    this.#later = [];
  }

  #failed(name: string, error: unknown): void {
    this.#log('error', 'a reply callback failed', { callback: name, error });
  }

  #log(level: 'debug' | 'error', message: string, fields: Fields): void {
    try {
      this.#logger[level](message, { ...this.#trace, ...fields });
    } catch {
      // nobody is left to tell, and the run goes on
    }
  }
}
