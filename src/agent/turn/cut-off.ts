import { type Clock, onAbort, Timer } from '../../kernel/index.js';

/** The end of the waits of a turn: some time after the turn was told to stop. */
export interface Cut extends Disposable {
  /** Aborted `graceMs` after the turn's signal. */
  readonly signal: AbortSignal;
}

/** Makes the cut that follows a signal. Disposing it takes its timer back. */
export function cutAfter(signal: AbortSignal, clock: Clock, graceMs: number): Cut {
  const cut = new AbortController();
  const timer = new Timer(clock);
  const listening = onAbort(signal, () => timer.set(graceMs, () => cut.abort(signal.reason)));
  return {
    signal: cut.signal,
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      timer.clear();
    },
  };
}

/**
 * Waits for a promise until a signal aborts. A later result is observed, and lost.
 *
 * @returns the value of the promise, or nothing if the signal came first.
 * @throws the reason of the promise, if it rejects first.
 */
export function untilCut<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const listening = onAbort(signal, () => resolve(undefined));
    promise.then(resolve, reject).finally(() => listening[Symbol.dispose]());
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
  using _listening = onAbort(signal, () => wake?.());
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
    // Not awaited: a source that hangs in a read would hang here, too.
    if (!ended) void letGo(iterator).catch(() => undefined);
  }
}

async function letGo(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
