import { definedFields, isSluiceError, systemClock } from '../../../kernel/index.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';
import { isCheckedWhole, openJournalFile } from '../file/journal-file.js';
import { lockJournal } from '../file/journal-lock.js';
import type { JournalOptions, SqliteJournal } from './journal-options.js';
import { fileJournal } from './sqlite-journal.js';

/** Milliseconds that opening waits for another process, and for which one step of it may block. */
const openLockWaitMs = 5_000;
const openBusyMs = 50;

/**
 * Opens the journal in a file, or makes one. Its writes are on the disk when they resolve: a write-ahead log, synced with
 * each transaction; writes of one turn of the event loop share a transaction. While the disk syncs, the process waits;
 * it does not wait for other processes.
 *
 * @throws SluiceError (as a rejection) `journal-in-use`, `not-a-journal`, or as `openSqlite`.
 * @example
 * const journal = await openJournal('./sluice.db');
 * const host = createHost({ agents, channels, journal, store: journal.store });
 */
export async function openJournal(
  path: string,
  options: JournalOptions = {},
): Promise<SqliteJournal> {
  const { maxPages, wholeCheckBytes, clock = systemClock } = options;
  const lock = path === ':memory:' ? undefined : lockJournal(path);
  const bounds = definedFields({ maxPages, wholeCheckBytes });
  const how = { isOwner: true, busyTimeoutMs: openBusyMs, ...bounds };
  const untilMs = clock.monotonicMs() + openLockWaitMs;
  const isWhole = isCheckedWhole(path, wholeCheckBytes);
  for (;;) {
    let database: SqliteDatabase | undefined;
    try {
      database = openJournalFile(path, how);
      const journal = fileJournal(database, lock, options);
      database.exec('PRAGMA busy_timeout = 0'); // from now on another process is waited for without blocking
      if (!isWhole) journal.checkLater();
      return journal;
    } catch (error) {
      database?.close();
      if (!isSluiceError(error, 'database-busy') || clock.monotonicMs() >= untilMs) {
        lock?.[Symbol.dispose]();
        throw error;
      }
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, openBusyMs));
  }
}
