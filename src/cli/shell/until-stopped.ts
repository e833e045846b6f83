/**
 * Yields the values of a source until a signal aborts, also during a wait: input that a person types may never end. The
 * value of such a wait is lost.
 */
export async function* untilStopped<T>(
  source: AsyncIterable<T>,
  stop: AbortSignal,
): AsyncGenerator<T> {
  const reader = source[Symbol.asyncIterator]();
  let giveUp = (): void => undefined;
  const onStop = (): void => giveUp();
  stop.addEventListener('abort', onStop, { once: true });
  let isReading = false;
  try {
    while (!stop.aborted) {
      isReading = true;
      // a race with one promise for the stop would keep memory for every value
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        giveUp = () => resolve(undefined);
        reader.next().then(resolve, reject);
      });
      if (next === undefined) return;
      isReading = false;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener('abort', onStop);
    const closed = reader.return?.();
    if (isReading)
      closed?.catch(() => undefined); // the source ends with its input, if ever
    else await closed;
  }
}
