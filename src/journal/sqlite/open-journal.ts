import { definedFields, isSluiceError, systemClock } from 'sluice-kernel/internal';
import { writtenKeyValues } from '../commit/database-journal.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { wholeOwnership } from '../fence.js';
import {
  isCheckedWhole,
  lockJournal,
  openJournalFile,
  readerCheckBytes,
} from '../file/journal-file.js';
import type { Journal, JournalReader } from '../journal.js';
import { journalChanges, writtenChanges } from '../journal-changes.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import { fileRecord } from './file-record.js';
import { fileJournal, type JournalOptions, type SqliteJournal } from './sqlite-journal.js';
import { sqliteRecords } from './sqlite-reader.js';
import { sqliteRows } from './sqlite-rows.js';

/** Milliseconds that opening waits for another process (durability §1.8), and for which one step of it may block. */
const openLockWaitMs = 20_000;
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
  const { maxPages, wholeCheckBytes, clock = systemClock, signal } = options;
  const lock = path === ':memory:' ? undefined : lockJournal(path);
  const bounds = definedFields({ maxPages, wholeCheckBytes });
  const how = { isOwner: true, busyTimeoutMs: openBusyMs, ...bounds };
  const isWhole = isCheckedWhole(path, wholeCheckBytes);
  let database: SqliteDatabase | undefined;
  /** The time by which it was found locked: the look at a large file before that takes long, and is no wait. */
  let lockedSinceMs: number | undefined;
  for (;;) {
    try {
      database ??= openJournalFile(path, how);
      if (options.scrub !== undefined) database.exec('PRAGMA secure_delete = ON'); // free pages keep nothing
      const record = options.record && (await fileRecord(database, options.record, clock));
      const journal = fileJournal(database, lock, options, record);
      database.exec('PRAGMA busy_timeout = 0'); // from now on another process is waited for without blocking
      await record?.recorder.start(journal.keyValues);
      if (!isWhole) journal.checkLater();
      return journal;
    } catch (error) {
      const nowMs = clock.monotonicMs();
      lockedSinceMs ??= nowMs;
      const mayWait = nowMs - lockedSinceMs < openLockWaitMs && signal?.aborted !== true;
      if (!isSluiceError(error, 'database-busy') || !mayWait) {
        database?.close();
        lock?.[Symbol.dispose]();
        throw error;
      }
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, openBusyMs));
  }
}

/** A journal that an operator looks after. */
export interface TendedJournal
  extends Omit<JournalReader, 'keyValues'>,
    Pick<Journal, 'retry' | 'purge' | 'keyValues'>,
    AsyncDisposable {}

/**
 * Opens a journal to look after its dead letters; a host may be using it meanwhile, and claims a retried message
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
  const at = {
    changes: journalChanges(sqliteRows(database, { mostHeld: 0 }), systemClock, wholeOwnership()),
    values: new SqliteKeyValues(database, () => systemClock.now()),
  };
  const write = async <T>(run: (given: typeof at) => T | Promise<T>): Promise<T> =>
    database.transaction(() => run(at));
  const { retry, purge } = writtenChanges(write);
  const keyValues = writtenKeyValues(at.values, { write, later: write });
  const close = async (): Promise<void> => database.close();
  const reader = sqliteRecords(database);
  return { ...reader, keyValues, retry, purge, close, [Symbol.asyncDispose]: close };
}
