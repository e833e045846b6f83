import { isSluiceError, SluiceError } from '../../kernel/index.js';
import { openSqlite } from '../sqlite/open-sqlite.js';

/**
 * Lets one process at a time use a journal. The lock is one of the operating system on a file beside the journal, so it
 * is gone with the process, however that ends; the file stays, and is empty.
 *
 * @throws SluiceError `journal-in-use`, or what `openSqlite` throws.
 */
export function lockJournal(path: string): Disposable {
  const lock = openSqlite(`${path}-lock`, { busyTimeoutMs: 0, isLock: true });
  try {
    lock.exec('BEGIN EXCLUSIVE'); // held until it is closed
    return lock;
  } catch (error) {
    lock.close();
    if (isSluiceError(error) && error.code === 'database-busy')
      throw new SluiceError('journal-in-use', { path }, { cause: error });
    throw error;
  }
}
