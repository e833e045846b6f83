import { isSluiceError } from 'sluice-kernel';
import { atOnce } from '../database/in-turns.js';
import { openSqlite, type SqliteDatabase, type SqliteOptions } from '../database/open-sqlite.js';
import { entryAt } from '../database/private-file.js';
import { journalError } from '../errors.js';
import { checkRows } from '../rows/examine-rows.js';
import { applicationId, checkSchema, makeSchema, schemaVersion } from '../rows/journal-schema.js';

/** The options of opening the file of a journal. */
interface JournalFileOptions extends SqliteOptions {
  /** The opener has its lock: a new file gets its tables. */
  readonly isOwner?: boolean;
  /** Bytes up to which all of it is looked at, by default 32 MiB. Of a larger file only the head and the schema are. */
  readonly wholeCheckBytes?: number;
}

/** Bytes of a file that are looked at in about a second. */
const usualCheckBytes = 32 * 1024 * 1024;

/** Bytes up to which a reader looks at all of a file: each row is compared with its sums when it is read, anyway. */
export const readerCheckBytes = 4 * 1024 * 1024;

/** Returns whether a file is looked at as a whole before it is used. */
export function isCheckedWhole(path: string, wholeCheckBytes = usualCheckBytes): boolean {
  return path === ':memory:' || (entryAt(path)?.size ?? 0) <= wholeCheckBytes;
}

/**
 * Opens the file of a journal, or makes it, and looks at all of it: every page, every index and every row with its sum.
 * Damage is found before anything depends on it. A large file is opened without that look: `checkLater`.
 *
 * @throws SluiceError `not-a-journal`, or as `openSqlite`.
 */
export function openJournalFile(path: string, options: JournalFileOptions = {}): SqliteDatabase {
  const { isOwner = false, wholeCheckBytes, ...sqlite } = options;
  const isChecked = sqlite.isDamageExpected !== true && isCheckedWhole(path, wholeCheckBytes);
  const database = openSqlite(path, sqlite);
  try {
    if (isChecked) database.check();
    const isNew = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
    if (isNew && isOwner) database.transaction(() => makeSchema(database));
    checkHead(database);
    checkSchema(database);
    if (isChecked) atOnce(checkRows(database));
    return database;
  } catch (error) {
    database.close();
    throw damageOfSchema(path, error);
  }
}

/** Judges an error of a statement of this project. The statement is right, so if it cannot be run the schema is damaged. */
export function damageOfSchema(path: string, error: unknown): unknown {
  if (!isSluiceError(error, 'database-failed')) return error;
  const problem = `its schema cannot be used: ${String(error.details['problem'])}`;
  return journalError('database-damaged', { path, problem }, { cause: error });
}

/**
 * Checks that a file is a journal of this version.
 *
 * @throws SluiceError `not-a-journal`.
 */
export function checkHead(database: SqliteDatabase): void {
  const { path } = database;
  const id = numberOf(database, 'PRAGMA application_id');
  if (id !== applicationId)
    throw journalError('not-a-journal', { path, problem: 'it is a database of something else' });
  const version = numberOf(database, 'PRAGMA user_version');
  if (version === schemaVersion) return;
  const problem = `it is of version ${version}, and this is made for version ${schemaVersion}`;
  throw journalError('not-a-journal', { path, problem });
}

/** Returns the one number that a statement gives. */
export function numberOf(database: SqliteDatabase, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
}

/**
 * Lets one process at a time use a journal. The lock is one of the operating system on a file beside the journal, so it
 * is gone with the process, however that ends; the file stays, and is empty.
 *
 * @throws SluiceError `journal-in-use`, or as `openSqlite`.
 */
export function lockJournal(path: string): Disposable {
  if (entryAt(path)?.isDirectory() === true)
    throw journalError('database-not-opened', { path, problem: 'it is a folder' }); // no lock is made beside it
  const lock = openLock(path);
  try {
    lock.exec('BEGIN EXCLUSIVE'); // held until it is closed
    return lock;
  } catch (error) {
    lock.close();
    if (isSluiceError(error, 'database-busy'))
      throw journalError('journal-in-use', { path }, { cause: error });
    throw error;
  }
}

/** @throws SluiceError that names the journal, because nobody knows the file beside it. */
function openLock(path: string): SqliteDatabase {
  try {
    return openSqlite(`${path}-lock`, { busyTimeoutMs: 0, isLock: true });
  } catch (error) {
    if (!isSluiceError(error, 'database-not-opened')) throw error;
    throw journalError('database-not-opened', { ...error.details, path }, { cause: error });
  }
}
