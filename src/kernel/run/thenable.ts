/** Whether a handler's result has to be waited for. Reads `then` once; a getter that throws is the caller's to catch. */
export function isThenable(result: object): result is PromiseLike<unknown> {
  return typeof (result as { then?: unknown }).then === 'function';
}

/**
 * Waits for a handler's promise. Of what it calls back with only the first counts, and never in this call; a
 * promise of the platform costs one `then`, anything else is adopted first.
 */
export function whenSettled(
  pending: PromiseLike<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  const promise = isPlatformPromise(pending) ? pending : Promise.resolve(pending);
  Promise.prototype.then.call(promise, fulfilled, rejected);
}

function isPlatformPromise(pending: PromiseLike<unknown>): pending is Promise<unknown> {
  return Object.getPrototypeOf(pending) === Promise.prototype && !Object.hasOwn(pending, 'then');
}
