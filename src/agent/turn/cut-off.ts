import type { Clock } from '../../kernel/index.js';

/** The end of what a turn waits for: some time after it was told to stop. */
export interface Cut extends Disposable {
  /** Aborted `graceMs` after the turn's signal. */
  readonly signal: AbortSignal;
}

/** Makes the cut that follows a signal. Disposing it takes its timer back. */
export function cutAfter(signal: AbortSignal, clock: Clock, graceMs: number): Cut {
  const cut = new AbortController();
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const onAbort = (): void => {
    timer = clock.setTimeout(() => cut.abort(signal.reason), graceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    signal: cut.signal,
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', onAbort);
      if (timer !== undefined) clock.clearTimeout(timer);
    },
  };
}

/**
 * Waits for a promise until a signal aborts. What it comes to later is observed, and lost.
 *
 * @returns its value, or nothing where the signal came first.
 * @throws what the promise rejects with, where that came first.
 */
export function untilCut<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(undefined);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const done = (): void => signal.removeEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(done);
  });
}

/**
 * Passes a stream on until it ends, or until the signal aborts: then it is cut off, also while a read is pending.
 * Whatever ends it, the source is told to let go.
 *
 * @example
 * using cut = cutAfter(signal, systemClock, 1_000);
 * for await (const event of cutOff(provider.run(request), cut.signal)) handle(event);
 */
export async function* cutOff<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let wake: (() => void) | undefined; // the read that waits now; one slot, so that nothing piles up per item
  const onAbort = (): void => wake?.();
  signal.addEventListener('abort', onAbort, { once: true });
  let ended = false;
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined);
        iterator.next().then(resolve, (error: unknown) => {
          ended = true;
          reject(error);
        });
      });
      if (next === undefined) return;
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source that hangs in a read would hang here, too.
    if (!ended) void letGo(iterator).catch(() => undefined);
  }
}

async function letGo(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
