import type { Clock } from 'sluice-kernel';

/** Milliseconds of a minute. */
const minuteMs = 60_000;

/**
 * Lets each key through once a minute. It holds the keys of the last minute, and no more than `limit`: of a crowd, the oldest is
 * forgotten early.
 *
 * @example
 * const mayReply = onceAMinute(clock);
 * if (mayReply('console:ada')) reply();
 */
export function onceAMinute(clock: Clock, limit = 10_000): (key: string) => boolean {
  /** When each key was let through, the oldest first: monotonic milliseconds. */
  const taken = new Map<string, number>();
  return (key) => {
    const nowMs = clock.monotonicMs();
    for (const [oldest, atMs] of taken) {
      if (nowMs - atMs < minuteMs && taken.size < limit) break;
      taken.delete(oldest);
    }
    if (taken.has(key)) return false;
    taken.set(key, nowMs);
    return true;
  };
}
