/**
 * The values of a source until a signal says stop, also while one is waited for: an input that a person types may
 * never end. The value that was waited for is lost then.
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
      // not a race with one promise for the stop: that would keep something for every value
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
      closed?.catch(() => undefined); // it ends when its input does, if ever
    else await closed;
  }
}
