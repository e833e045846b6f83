import { systemClock } from '../../../kernel/index.js';
import { openJournalFile, readerCheckBytes } from '../file/journal-file.js';
import type { Journal, JournalReader } from '../journal.js';
import { journalChanges } from '../journal-changes.js';
import { sqliteKeyValues } from './sqlite-key-values.js';
import { SqliteReader } from './sqlite-reader.js';
import { sqliteRows } from './sqlite-rows.js';

/** A journal that an operator looks after. */
export interface TendedJournal
  extends Omit<JournalReader, 'keyValues'>,
    Pick<Journal, 'retry' | 'purge' | 'keyValues'>,
    AsyncDisposable {}

/**
 * Opens a journal to look after its dead letters; a host may be using it meanwhile, and takes a retried message up
 * within a second.
 *
 * @throws SluiceError (as a rejection) `not-a-journal`, or as `openSqlite`.
 * @example
 * const journal = await tendJournal('./sluice.db');
 * for (const { eventId } of await journal.updates({ states: ['dead'] })) await journal.retry(eventId);
 * await journal.close();
 */
export async function tendJournal(path: string): Promise<TendedJournal> {
  const how = { wholeCheckBytes: readerCheckBytes };
  openJournalFile(path, { ...how, readonly: true }).close(); // a file that is not there is not made
  const database = openJournalFile(path, { wholeCheckBytes: 0 }); // it was looked at
  const { retry, purge } = journalChanges(sqliteRows(database), systemClock);
  const keyValues = sqliteKeyValues(database, {
    now: () => systemClock.now(),
    write: async (work) => database.transaction(work),
  });
  const reader = new SqliteReader(database);
  return {
    updates: (filter) => reader.updates(filter),
    sends: (filter) => reader.sends(filter),
    dispatches: (filter) => reader.dispatches(filter),
    counts: () => reader.counts(),
    close: () => reader.close(),
    [Symbol.asyncDispose]: () => reader.close(),
    keyValues,
    retry: async (eventId: string) => database.transaction(() => retry(eventId)),
    purge: async (eventId?: string) => database.transaction(() => purge(eventId)),
  };
}
