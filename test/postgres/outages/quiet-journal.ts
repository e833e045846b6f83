import { systemClock } from '../../../src/kernel/internal.js';
import type { PostgresJournal } from '../../../src/postgres/index.js';

/** A clock by which nothing comes that is due after a second or more, such as a renewal of a lease. */
export const withoutRenewals = {
  ...systemClock,
  setTimeout: (run: () => void, ms: number) =>
    systemClock.setTimeout(ms < 1_000 ? run : () => undefined, ms),
};

/** Waits until a journal that was just opened writes nothing more by itself: its first sweep is over. */
export async function settled(journal: PostgresJournal): Promise<void> {
  for (let at = 0; at < 20; at++) await journal.dispatches();
}
