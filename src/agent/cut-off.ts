import type { Clock } from '../kernel/index.js';

/**
 * Passes a stream on until it ends. Once the signal aborts, the stream has `graceMs` to end by itself, and is cut
 * off then, also while a read is pending. Whatever ends it, the source is told to let go.
 *
 * @example
 * for await (const event of cutOff(provider.run(request), signal, systemClock, 1_000)) handle(event);
 */
export async function* cutOff<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
  clock: Clock,
  graceMs: number,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let isCut = false;
  let wake: (() => void) | undefined; // the read that waits now; one slot, so that nothing piles up per item
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const onAbort = (): void => {
    timer = clock.setTimeout(() => {
      isCut = true;
      wake?.();
    }, graceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  let ended = false;
  try {
    while (!isCut) {
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
    if (timer !== undefined) clock.clearTimeout(timer);
    // Not awaited: a source that hangs in a read would hang here, too.
    if (!ended) iterator.return?.().catch(() => undefined);
  }
}
