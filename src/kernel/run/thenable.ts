/** Whether a handler's result has to be waited for. Reads `then` once; a getter that throws is the caller's to catch. */
export function isThenable(result: object): result is PromiseLike<unknown> {
  return typeof (result as { then?: unknown }).then === 'function';
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
  Promise.prototype.then.call(adopt(pending), fulfilled, rejected);
}

function adopt(pending: PromiseLike<unknown>): Promise<unknown> {
  try {
    const isPlatforms =
      Object.getPrototypeOf(pending) === Promise.prototype &&
      !Object.hasOwn(pending, 'then') &&
      !Object.hasOwn(pending, 'constructor');
    return isPlatforms ? (pending as Promise<unknown>) : Promise.resolve(pending); // its prototype says so
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
