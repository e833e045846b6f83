import { isThenable, type Logger } from 'sluice-kernel/internal';
import type { bootstrapView } from './bootstrap-files.js';
import type { InternalHookEvent, InternalHookHandler } from './event.js';

/**
 * One event on its way through the handlers of its key: they share the event, and each is called once.
 *
 * @param onFailure is told of each handler that fails.
 */
export function hookTrigger(event: InternalHookEvent, logger: Logger, onFailure: () => void) {
  /** The replies of the handlers so far, in order. */
  const replied: string[] = [];
  /** The handlers that were called so far, one after the other, where nobody waits for them in between. */
  let tail: Promise<void> | undefined;

  /**
   * Calls a handler. What it throws is logged as in the legacy system, and thrown on for the kernel to isolate and
   * count.
   */
  function call(handler: InternalHookHandler): void | Promise<void> {
    try {
      const result: unknown = handler(event);
      if (isThenable(result)) return Promise.resolve(result).then(() => undefined, fail);
    } catch (thrown) {
      fail(thrown);
    }
    return undefined;
  }

  function fail(thrown: unknown): never {
    onFailure();
    logger.error(`Hook error [${event.type}:${event.action}]`, { error: thrown });
    throw thrown;
  }

  return {
    event,
    /** The file list of an agent:bootstrap event, once a handler has been called with it. */
    files: undefined as ReturnType<typeof bootstrapView> | undefined, // none yet
    call,
    /** The same, after the handlers that were queued before have settled: the legacy bus awaits each. */
    queue(handler: InternalHookHandler): void | Promise<void> {
      const result = tail === undefined ? call(handler) : tail.then(() => call(handler));
      if (result !== undefined) tail = result.catch(() => undefined);
      return result;
    },
    /** Resolves when every queued handler has settled. */
    async settled(): Promise<void> {
      await tail;
    },
    /** The messages that handlers have pushed since this was last asked. */
    newReplies(): string[] {
      const texts = event.messages.filter((message) => typeof message === 'string');
      const replies = texts.slice(replied.length);
      replied.push(...replies);
      return replies;
    },
    /** Adds what others than the handlers of this bus have replied, for the caller of the trigger to send. */
    addReplies(all: readonly string[]): void {
      const own = [...replied];
      for (const reply of all) {
        if (own[0] === reply) own.shift();
        else event.messages.push(reply);
      }
    },
  };
}

/** The parts of `hookTrigger` that others use. */
export type HookTrigger = ReturnType<typeof hookTrigger>;
