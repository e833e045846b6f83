import { isThenable, type Logger } from '../../kernel/index.js';
import type { BootstrapView } from './bootstrap-files.js';
import type { InternalHookEvent, InternalHookHandler } from './event.js';

/** Hears the errors of handlers. */
export interface TriggerLog {
  readonly logger: Logger;
  failed(): void;
}

/** One event on its way through the handlers of its key: they share the event, and each is called once. */
export class HookTrigger {
  readonly event: InternalHookEvent;
  /** The file list of an agent:bootstrap event, once a handler has been called with it. */
  files: BootstrapView | undefined;
  readonly #log: TriggerLog;
  /** The replies of the handlers so far, in order. */
  readonly #replied: string[] = [];
  /** The handlers that were called so far, one after the other, where nobody waits for them in between. */
  #tail: Promise<void> | undefined;

  constructor(event: InternalHookEvent, log: TriggerLog) {
    this.event = event;
    this.#log = log;
  }

  /**
   * Calls a handler. What it throws is logged as in the legacy system, and thrown on for the kernel to isolate and
   * count.
   */
  call(handler: InternalHookHandler): void | Promise<void> {
    const fail = (thrown: unknown): never => {
      throw this.#logged(thrown);
    };
    try {
      const result: unknown = handler(this.event);
      if (isThenable(result)) return Promise.resolve(result).then(() => undefined, fail);
    } catch (thrown) {
      fail(thrown);
    }
    return undefined;
  }

  /** The same, after the handlers that were queued before have settled: the legacy bus awaits each. */
  queue(handler: InternalHookHandler): void | Promise<void> {
    const result =
      this.#tail === undefined ? this.call(handler) : this.#tail.then(() => this.call(handler));
    if (result !== undefined) this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when every queued handler has settled. */
  async settled(): Promise<void> {
    await this.#tail;
  }

  /** The messages that handlers have pushed since this was last asked. */
  newReplies(): string[] {
    const texts = this.event.messages.filter((message) => typeof message === 'string');
    const replies = texts.slice(this.#replied.length);
    this.#replied.push(...replies);
    return replies;
  }

  /** Adds what others than the handlers of this bus have replied, for the caller of the trigger to send. */
  addReplies(all: readonly string[]): void {
    const own = [...this.#replied];
    for (const reply of all) {
      if (own[0] === reply) own.shift();
      else this.event.messages.push(reply);
    }
  }

  #logged(thrown: unknown): unknown {
    const { type, action } = this.event;
    this.#log.failed();
    this.#log.logger.error(`Hook error [${type}:${action}]`, { error: thrown });
    return thrown;
  }
}
