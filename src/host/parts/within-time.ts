import { type Clock, oneLine } from 'sluice-kernel/internal';

/** The end of a call to somebody else's code. */
export type CallEnd<T> =
  | { readonly status: 'returned'; readonly value: T }
  | { readonly status: 'threw'; readonly reason: string }
  /** It did not settle in time. */
  | { readonly status: 'late' }
  /** The signal aborted first. */
  | { readonly status: 'aborted' };

/**
 * Calls somebody else's code, and waits for it no longer than a time and a signal allow. Never rejects; what it comes
 * to later is observed, and lost.
 *
 * @param timeoutMs no end where it is undefined.
 */
export function callWithin<T>(
  call: () => Promise<T>,
  clock: Clock,
  timeoutMs: number | undefined,
  signal?: AbortSignal,
): Promise<CallEnd<T>> {
  return new Promise((resolve) => {
    const done = (end: CallEnd<T>): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(end);
    };
    const onAbort = (): void => done({ status: 'aborted' });
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.setTimeout(() => done({ status: 'late' }), timeoutMs);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    void settled(call).then(done);
  });
}

async function settled<T>(call: () => Promise<T>): Promise<CallEnd<T>> {
  try {
    return { status: 'returned', value: await call() };
  } catch (error) {
    return { status: 'threw', reason: oneLine(error) };
  }
}
