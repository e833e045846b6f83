/**
 * One turn at a time for each session: the SDK goes on writing a session down for a moment after a turn was
 * stopped, and a turn that resumes it before that would not find what was said.
 */
export class ClaudeTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Resolves when the turn before has let go, or the signal aborts.
   *
   * @returns what tells that this one has let go. To be called whatever happens.
   */
  async enter(sessionId: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#last.get(sessionId);
    const { promise: gone, resolve } = deferred();
    this.#last.set(sessionId, gone);
    if (before !== undefined) await either(before, signal);
    return () => {
      if (this.#last.get(sessionId) === gone) this.#last.delete(sessionId);
      resolve();
    };
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

function either(before: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    void before.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
