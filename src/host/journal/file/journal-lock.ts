import { isSluiceError } from '../../../kernel/index.js';
import { hostError } from '../../errors.js';
import { openSqlite, type SqliteDatabase } from '../../sqlite/open-sqlite.js';
import { entryAt } from '../../sqlite/private-file.js';

/**
 * Lets one process at a time use a journal. The lock is one of the operating system on a file beside the journal, so it
 * is gone with the process, however that ends; the file stays, and is empty.
 *
 * @throws SluiceError `journal-in-use`, or as `openSqlite`.
 */
export function lockJournal(path: string): Disposable {
  if (entryAt(path)?.isDirectory() === true)
    throw hostError('database-not-opened', { path, problem: 'it is a folder' }); // no lock is made beside it
  const lock = openLock(path);
  try {
    lock.exec('BEGIN EXCLUSIVE'); // held until it is closed
    return lock;
  } catch (error) {
    lock.close();
    if (isSluiceError(error, 'database-busy'))
      throw hostError('journal-in-use', { path }, { cause: error });
    throw error;
  }
}

/** @throws SluiceError that names the journal, because nobody knows the file beside it. */
function openLock(path: string): SqliteDatabase {
  try {
    return openSqlite(`${path}-lock`, { busyTimeoutMs: 0, isLock: true });
  } catch (error) {
    if (!isSluiceError(error, 'database-not-opened')) throw error;
    throw hostError('database-not-opened', { ...error.details, path }, { cause: error });
  }
}
