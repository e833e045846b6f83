import { systemClock } from '../../../kernel/index.js';
import { openJournalFile, readerCheckBytes } from '../file/journal-file.js';
import type { Journal, JournalReader } from '../journal.js';
import { journalChanges, writtenChanges } from '../journal-changes.js';
import { sqliteKeyValues } from './sqlite-key-values.js';
import { sqliteRecords } from './sqlite-reader.js';
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
  const write = async <T>(work: () => T): Promise<T> => database.transaction(work);
  const { retry, purge } = writtenChanges(journalChanges(sqliteRows(database), systemClock), write);
  const keyValues = sqliteKeyValues(database, { now: () => systemClock.now(), write });
  const close = async (): Promise<void> => database.close();
  const reader = sqliteRecords(database);
  return { ...reader, keyValues, retry, purge, close, [Symbol.asyncDispose]: close };
}
