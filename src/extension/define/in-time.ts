import type { Clock, TimerHandle } from '../../kernel/index.js';

/**
 * Waits for work of an extension, no longer than a time. The work goes on after that, and its end is lost.
 *
 * @param late makes the error that the wait ends with when the time is up.
 */
export async function inTime<T>(
  work: PromiseLike<T>,
  clock: Clock,
  timeoutMs: number,
  late: () => Error,
): Promise<T> {
  let timer: TimerHandle | undefined;
  const expiry = new Promise<never>((_, expire) => {
    timer = clock.setTimeout(() => expire(late()), timeoutMs);
  });
  try {
    return await Promise.race([work, expiry]);
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
  }
}
