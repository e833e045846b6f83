/** The wait of a generator, for a reader that leaves. */
export interface Waiting {
  /** Ends the wait; the generator must then end by itself. */
  close(): void;
  /** Lets go of the source, also if the generator was never started and so has no end of its own. */
  release?(): Promise<unknown>;
}

/**
 * Makes a generator that its reader can leave during a wait for an item: a generator's own `return` would wait, too.
 *
 * @example
 * const lines = leavable(read(), { close: () => socket.end(), release: async () => socket.destroy() });
 */
export function leavable<T>(events: AsyncGenerator<T>, waiting: Waiting): AsyncGenerator<T> {
  const leave = async <R>(end: () => Promise<R>): Promise<R> => {
    waiting.close();
    try {
      return await end();
    } finally {
      await waiting.release?.();
    }
  };
  return {
    next: () => events.next(),
    return: (value) => leave(() => events.return(value)),
    throw: (error) => leave(() => events.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await leave(() => events.return(undefined));
    },
  };
}
