import { type Clock, oneLine, type StopSignal } from 'sluice-kernel/internal';
import type { HostParts } from './parts.js';

/** One step of a stop: whatever it does, the next one follows. */
export async function attempt(
  { logger }: Pick<HostParts, 'logger'>,
  what: string,
  step: () => Promise<unknown>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    logger.error(`${what} failed`, { error });
  }
}

/** As `attempt`, and waits for it no longer than a time: then it is left. @param timeoutMs no end where it is undefined. */
export async function attemptWithin(
  parts: Pick<HostParts, 'logger' | 'clock'>,
  timeoutMs: number | undefined,
  what: string,
  step: () => Promise<unknown>,
): Promise<void> {
  const { status } = await callWithin(() => attempt(parts, what, step), parts.clock, timeoutMs);
  if (status === 'late')
    parts.logger.error(`${what} has not ended after ${timeoutMs} ms; it is left`);
}

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
  signal?: StopSignal,
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
    const failed = (error: unknown): void => done({ status: 'threw', reason: oneLine(error) });
    try {
      // from outside: it may return no promise
      Promise.resolve(call()).then((value) => done({ status: 'returned', value }), failed);
    } catch (error) {
      failed(error);
    }
  });
}

/** Makes an act that waits for a moment. */
export function after<Given extends unknown[], Result>(
  moment: Promise<unknown>,
  act: (...given: Given) => Promise<Result>,
) {
  return async (...given: Given): Promise<Result> => {
    await moment;
    return act(...given);
  };
}
