/** A signal that aborts with the first of two, until it is disposed of; none if there are none, since a dispatch pays for one. */
interface Either extends Disposable {
  readonly given: { readonly signal?: AbortSignal };
}

/** Joins two signals for the time of one call: `AbortSignal.any` leaves a trace in one that lives long, on Node 20. */
export function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): Either {
  if (one === undefined || other === undefined) {
    const signal = one ?? other;
    return { given: signal ? { signal } : {}, [Symbol.dispose]: () => undefined };
  }
  const both = new AbortController();
  const stop = (): void => both.abort((one.aborted ? one : other).reason);
  for (const each of [one, other]) each.addEventListener('abort', stop);
  if (one.aborted || other.aborted) stop();
  return {
    given: { signal: both.signal },
    [Symbol.dispose]() {
      for (const each of [one, other]) each.removeEventListener('abort', stop);
    },
  };
}
