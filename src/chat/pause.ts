import type { Clock } from '../kernel/index.js';

/**
 * Waits, unless its signal aborts first.
 *
 * @example
 * await pause(clock, 1_000, signal);
 */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, delayMs);
    signal.addEventListener('abort', done, { once: true });
  });
}
