import type { Clock } from 'sluice';

/** How many mentions are remembered. The oldest are forgotten first. */
export const maxMentions = 2_000;

/**
 * Remembers mentions for a time, and never more than `maxMentions` of them. The time is monotonic: a clock that is
 * set back does not make a mention last.
 */
export function recentMentions(clock: Clock, ttlMs: number) {
  const heardAt = new Map<string, number>(); // oldest first
  const isOld = (atMs: number): boolean => clock.monotonicMs() - atMs > ttlMs;
  return {
    get size() {
      return heardAt.size;
    },
    add(key: string): void {
      heardAt.delete(key); // to the end
      heardAt.set(key, clock.monotonicMs());
      for (const [oldest, atMs] of heardAt) {
        if (heardAt.size <= maxMentions && !isOld(atMs)) break;
        heardAt.delete(oldest);
      }
    },
    /** Returns whether there was one, and not more than the time to live ago. */
    has(key: string): boolean {
      const atMs = heardAt.get(key);
      return atMs !== undefined && !isOld(atMs);
    },
  };
}
