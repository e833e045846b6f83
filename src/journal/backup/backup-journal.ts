import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isSluiceError } from 'sluice-kernel';
import { checkInChild, runInChild } from '../database/in-child.js';
import { openSqlite } from '../database/open-sqlite.js';
import { copyPrivately, entryAt } from '../database/private-file.js';
import { sqliteFailure } from '../database/sqlite-failure.js';
import { journalError } from '../errors.js';
import { lockJournal, openJournalFile } from '../file/journal-file.js';
import type { JournalCounts } from '../journal-counts.js';
import { examineRows } from '../rows/examine-rows.js';
import { damageError } from '../rows/table-rows.js';
import { sqliteRecords } from '../sqlite/sqlite-reader.js';

/** A copy of a journal, all of which was looked at. */
interface JournalCopy {
  /** Of its file. */
  readonly bytes: number;
  /** The messages and sends in it that have not ended. */
  readonly counts: JournalCounts;
}

/**
 * Copies a journal as it is at one moment into a new file for this user alone (mode 0600), while a host may use it, and looks at every
 * page and row of the copy. The copy has its name only when it is whole. The host writes on meanwhile: its log grows by that until the
 * copy is made.
 *
 * @param signal ends it: nothing is left of it then.
 * @throws its reason; the file system's error, such as `EEXIST` if the file is there; SluiceError `not-a-journal`, `database-damaged`,
 *   `database-full`, and as `openSqlite`.
 * @example
 * const { bytes } = await backupJournal('./sluice.db', './sluice-2026-03-15.db', signal);
 */
export async function backupJournal(
  path: string,
  to: string,
  signal: AbortSignal,
): Promise<JournalCopy> {
  const part = `${to}.part`;
  const copy = await copied(path, part, signal);
  try {
    nameNew(part, to);
    syncFolder(to);
    return copy;
  } finally {
    rmSync(part, { force: true });
  }
}

/** Gives a file its name at one moment. Nothing that is there is replaced. */
function nameNew(part: string, to: string): void {
  try {
    linkSync(part, to);
  } catch (error) {
    if (!/^(EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP|EMLINK)$/.test(Object(error).code)) throw error;
    closeSync(openSync(to, 'wx', 0o600)); // this file system has no second name for a file
    renameSync(part, to);
  }
}

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
  using _lock = lockJournal(named);
  const path = existsSync(named) ? realpathSync(named) : named; // a link to a journal stays one
  const isThere = hasBytes(path);
  const part = `${path}.restored`;
  rmSync(part, { force: true }); // of a restore that was killed: nobody else has the lock
  const copy = await copied(from, part, signal);
  try {
    const kept = `${path}.before-${stamp}`;
    if (isThere) foldLog(path);
    for (const suffix of ['', '-wal']) {
      if (!hasBytes(path + suffix)) continue;
      copyPrivately(path + suffix, kept + suffix);
      syncFile(kept + suffix);
    }
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true }); // it would be read into the new file
    renameSync(part, path);
    syncFolder(path);
    return { ...copy, ...(isThere && { kept }) };
  } finally {
    rmSync(part, { force: true });
  }
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

/** Makes a copy under a name that nothing has, and looks at all of it. */
async function copied(path: string, to: string, signal: AbortSignal): Promise<JournalCopy> {
  openJournalFile(path, { readonly: true, wholeCheckBytes: 0 }).close(); // it is a journal, of this version
  closeSync(openSync(to, 'wx', 0o600));
  rmSync(`${to}-journal`, { force: true }); // of a copy that was killed: SQLite would take it for one of this file
  try {
    const end = await runInChild(path, ['VACUUM INTO ?', to], signal);
    signal.throwIfAborted();
    const { code, message } = end ?? { message: 'no process could be started that copies it' };
    if (message !== undefined) {
      const failure = sqliteFailure(path, Object.assign(new Error(message), { code }));
      if (failure.code !== 'database-full') throw failure;
      throw journalError('database-full', { ...failure.details, path: to }, { cause: failure });
    }
    syncFile(to);
    const damage = await checkInChild(to, signal);
    if (damage !== undefined) throw damage;
    using copy = openJournalFile(to, { readonly: true, wholeCheckBytes: 0 });
    for (const [first] of examineRows(copy)) {
      if (first !== undefined) throw damageError(path, first); // a row comes over as it is
      await new Promise<void>((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
    return { bytes: entryAt(to)?.size ?? 0, counts: await sqliteRecords(copy).counts() };
  } catch (error) {
    for (const suffix of ['', '-journal']) rmSync(to + suffix, { force: true });
    throw error;
  }
}

function hasBytes(path: string): boolean {
  return (entryAt(path)?.size ?? 0) > 0;
}

function syncFile(path: string, flags = 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A new name outlives a loss of power from here on. */
function syncFolder(path: string): void {
  if (process.platform !== 'win32') syncFile(dirname(path), 'r');
}
