import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkInChild, runInChild } from '../database/in-child.js';
import { inTurns } from '../database/in-turns.js';
import { entryAt, newPrivateFile } from '../database/private-file.js';
import { sqliteFailure } from '../database/sqlite-failure.js';
import { journalError } from '../errors.js';
import { openJournalFile } from '../file/journal-file.js';
import type { JournalCounts } from '../journal-counts.js';
import { checkRows } from '../rows/examine-rows.js';
import { sqliteRecords } from '../sqlite/sqlite-reader.js';

/** A copy of a journal, all of which was looked at. */
export interface JournalCopy {
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
  const copy = await copyJournal(path, part, signal);
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
    newPrivateFile(to); // this file system has no second name for a file
    renameSync(part, to);
  }
}

/**
 * Makes a copy under a name that nothing has, and looks at all of it.
 *
 * @param inPlaceOf the file whose place it is to take.
 * @throws as `backupJournal`.
 */
export async function copyJournal(
  path: string,
  to: string,
  signal: AbortSignal,
  inPlaceOf = to,
): Promise<JournalCopy> {
  openJournalFile(path, { readonly: true, wholeCheckBytes: 0 }).close(); // it is a journal, of this version
  newPrivateFile(to, inPlaceOf);
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
    await inTurns(checkRows(copy, path), signal); // a row comes over as it is
    return { bytes: entryAt(to)?.size ?? 0, counts: await sqliteRecords(copy).counts() };
  } catch (error) {
    for (const suffix of ['', '-journal']) rmSync(to + suffix, { force: true });
    throw error;
  }
}

export function syncFile(path: string, flags = 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A new name outlives a loss of power from here on. */
export function syncFolder(path: string): void {
  if (process.platform !== 'win32') syncFile(dirname(path), 'r');
}
