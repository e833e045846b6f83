import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSluiceError } from 'sluice-kernel';
import { definedFields } from 'sluice-kernel/internal';
import { openSqlite } from '../database/open-sqlite.js';
import { copyPrivately, entryAt } from '../database/private-file.js';
import { lockJournal } from '../file/journal-file.js';
import { copyJournal, type JournalCopy, syncFile, syncFolder } from './backup-journal.js';

const ending = '.new-';

/** The ending of the file that is written meanwhile: the process that copies for a run that was killed may still write to its own. */
export const newEnding = `${ending}${randomUUID().slice(0, 8)}`;

/**
 * Puts a copy in the place of a journal that no host uses: the copy is looked at first, and the journal as it was is kept beside it. A
 * process that is killed in it leaves one of the two in its place.
 *
 * @param named its path: of a link, the file that it names is replaced.
 * @param stamp a part of the name under which the journal is kept as it was.
 * @param signal ends it before anything has changed.
 * @returns `kept` if there was a journal.
 * @throws as `backupJournal`; SluiceError `journal-in-use` while a host runs.
 * @example
 * const { kept, counts } = await restoreJournal('./sluice.db', './sluice-2026-03-15.db', '20260316T090000Z', signal);
 */
export async function restoreJournal(
  named: string,
  from: string,
  stamp: string,
  signal: AbortSignal,
): Promise<JournalCopy & { readonly kept?: string }> {
  const make = (made: string, path: string) => copyJournal(from, made, signal, path);
  const { more, kept } = await replaced(named, signal, make, `.before-${stamp}`);
  return { ...more, ...definedFields({ kept }) };
}

/** The sizes before and after a compaction: bytes of a journal's file with its write-ahead log. */
interface CompactReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Writes the file of a journal anew, without free pages, while no host uses it; from then on it shrinks by itself (durability
 * §5.5). All of it is looked at. The disk needs room for the journal once more meanwhile.
 *
 * @param signal ends it before anything has changed.
 * @throws as `restoreJournal`: then it is as it was.
 * @example
 * const { bytesBefore, bytesAfter } = await compactJournal('./sluice.db', signal);
 */
export async function compactJournal(path: string, signal: AbortSignal): Promise<CompactReport> {
  const bytesBefore = bytesOf(path);
  await replaced(path, signal, (made, file) => copyJournal(path, made, signal, file));
  return { bytesBefore, bytesAfter: bytesOf(path) };
}

/**
 * Puts a file in the place of a journal that no host uses. A process that is killed in it leaves the journal or the new file there,
 * and whole.
 *
 * @param make makes the file, on the disk; without one the journal stays. Other files of it, whose names begin with that of the file,
 *   are gone in the end.
 * @param keptAs the ending under which the journal is kept as it was.
 * @returns `more` as `make` gives it.
 */
export async function replaced<More>(
  named: string,
  signal: AbortSignal,
  make: (made: string, path: string) => Promise<More>,
  keptAs = '',
): Promise<{ readonly more: More; readonly kept: string | undefined }> {
  using _lock = lockJournal(named);
  const path = existsSync(named) ? realpathSync(named) : named; // a link to a journal stays one
  const made = path + newEnding;
  removeMade(path); // by runs that were killed: nobody else has the lock
  try {
    const more = await make(made, path);
    signal.throwIfAborted();
    if (!existsSync(made)) return { more, kept: undefined };
    const isThere = bytesOf(path) > 0;
    const kept = isThere && keptAs !== '' ? path + keptAs : undefined;
    for (const suffix of kept === undefined ? [] : ['', '-wal']) {
      if (!entryAt(path + suffix)?.size) continue;
      copyPrivately(path + suffix, kept + suffix);
      syncFile(kept + suffix);
    }
    if (isThere) foldLog(path);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true }); // it would be read into the new file
    renameSync(made, path);
    syncFolder(path);
    return { more, kept };
  } finally {
    removeMade(path);
  }
}

function removeMade(path: string): void {
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(basename(path) + ending)) rmSync(join(dirname(path), name));
}

/** Takes what is in the log of a journal into its file: until the new one is in its place, this one is whole without it. */
function foldLog(path: string): void {
  try {
    using database = openSqlite(path, { isDamageExpected: true });
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isSluiceError(error)) throw error; // a damaged one is kept as it is
  }
}

function bytesOf(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (entryAt(path + suffix)?.size ?? 0), 0);
}
