import { type AsyncHook, createHook, executionAsyncResource } from 'node:async_hooks';

/** The owner of some work: a handler, or the setup of an extension and the work that it has started. */
export interface Mark {
  readonly extensionId: string;
  readonly contributionId?: string;
}

const key = Symbol('mark');
type Marked = object & { [key]?: Mark | undefined };

/**
 * Tells to whom the work belongs that runs now. Who calls an extension's code sets `current` meanwhile, which costs two
 * writes; a promise, a timer or a listener that begins then belongs to the same, and so does all that these begin.
 */
export class WorkMarks implements Disposable {
  /** The owner of the code that is being called; `undefined` in all other code. */
  current: Mark | undefined;
  readonly #hook: AsyncHook = createHook({
    init: (_id, _type, _trigger, resource) => {
      const begun: Marked = resource;
      const mark = this.current ?? this.#running;
      if (mark !== undefined || begun[key] !== undefined) begun[key] = mark; // Node uses some of them again
    },
  });

  /** Work that begins before this call is not known. A second call does nothing. */
  enable(): void {
    this.#hook.enable();
  }

  /** Finds the owner of a promise, or of the timer or the listener that runs. */
  ownerOf(promise?: object): Mark | undefined {
    const asked: Marked | undefined = promise;
    return asked?.[key] ?? this.#running;
  }

  get #running(): Mark | undefined {
    const running: Marked = executionAsyncResource();
    return running[key];
  }

  [Symbol.dispose](): void {
    this.#hook.disable();
  }
}
