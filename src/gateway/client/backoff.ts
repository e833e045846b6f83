import type { ReconnectOptions } from './client-options.js';

/** Milliseconds before the next attempt to connect. @param attempts that have failed in a row, from 1. */
export function backoffMs(
  { firstDelayMs, factor, maxDelayMs, jitter }: ReconnectOptions,
  attempts: number,
  random: () => number,
): number {
  const delayMs = Math.min(maxDelayMs, firstDelayMs * factor ** (attempts - 1));
  return Math.round(delayMs * (1 + jitter * random()));
}
