/** Says that a value can be waited for. It reads `then` once; a getter that throws is the caller's to catch. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/**
 * Waits for a handler's promise. Of what it calls back with only the first counts, and never in this call. A promise
 * of the platform costs one `then`; anything else is adopted first, and what cannot be adopted has rejected.
 */
export function whenSettled(
  pending: PromiseLike<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  try {
    const { constructor: maker, then } = pending as Promise<unknown>; // if it is none, one of them differs
    const isPlatforms = maker === Promise && then === Promise.prototype.then;
    if (isPlatforms)
      void Promise.prototype.then.call(pending, fulfilled, rejected); // as it was read: the next time it may be another
    else void adopted(pending).then(fulfilled, rejected);
  } catch (thrown) {
    void Promise.reject(thrown).then(undefined, rejected);
  }
}

/** A promise of the platform. `Promise.resolve` would return a promise as it is that has a `then` of its own. */
function adopted(pending: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve) => resolve(pending));
}
