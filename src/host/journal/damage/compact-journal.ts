import { entryAt } from '../../sqlite/private-file.js';
import { openJournalFile } from '../file/journal-file.js';
import { lockJournal } from '../file/journal-lock.js';

/** The sizes before and after a compaction: bytes of a journal's file with its write-ahead log. */
export interface CompactReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Writes the file of a journal anew, without free pages, while no host uses it; from then on it shrinks by itself (durability
 * §5.3). All of it is looked at first. It is one transaction: a process that is killed in it leaves the journal as it was or
 * compacted, and whole either way. The disk needs room for the journal twice more meanwhile.
 *
 * @throws SluiceError `journal-in-use` while a host runs; `database-damaged`, `not-a-journal`, `database-full`: then it is as it was.
 * @example
 * const { bytesBefore, bytesAfter } = compactJournal('./sluice.db');
 */
export function compactJournal(path: string): CompactReport {
  using _lock = lockJournal(path);
  const bytesBefore = bytesOf(path);
  {
    using database = openJournalFile(path, { wholeCheckBytes: Number.POSITIVE_INFINITY });
    database.exec('VACUUM'); // with the free pages' list of a file of today: openSqlite asks for it
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  return { bytesBefore, bytesAfter: bytesOf(path) };
}

function bytesOf(path: string): number {
  return [path, `${path}-wal`].reduce((sum, file) => sum + (entryAt(file)?.size ?? 0), 0);
}
