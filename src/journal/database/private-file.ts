import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fchownSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the file of a database for its user alone (mode 0600), and takes rights from others where it and the files beside
 * it are there already: it holds what people wrote. SQLite gives its own files beside it the mode of the database. A file
 * that this user may not change is left as it is, and so is what is no file, such as `/dev/null`.
 *
 * @param suffixes of the files beside it that are looked at.
 */
export function makePrivate(path: string, suffixes: readonly string[] = ['-wal', '-shm']): void {
  try {
    // never one that is there: to close it would give up the locks that this process has on it
    if (!existsSync(path)) newPrivateFile(path);
  } catch {
    return; // the driver says what is wrong with it
  }
  for (const suffix of ['', ...suffixes]) tighten(path + suffix);
}

/**
 * Makes an empty file for its user alone. Root makes it for the owner of the folder, or of the file whose place it takes: a host that
 * is not root has to read it.
 *
 * @throws the error of the file system, such as `EEXIST`.
 */
export function newPrivateFile(path: string, inPlaceOf = path): void {
  const { uid, gid } = entryAt(inPlaceOf) ?? entryAt(dirname(path)) ?? {};
  const file = openSync(path, 'wx', 0o600);
  try {
    if (process.getuid?.() === 0 && uid && gid !== undefined) fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
}

/** Gives the mode of a file, in octal digits, if others than its owner may read it; else `undefined`. */
export function openToOthers(path: string): string | undefined {
  if (process.platform === 'win32') return undefined; // no such modes
  const mode = entryAt(path)?.mode ?? 0;
  return (mode & 0o044) === 0 ? undefined : (mode & 0o777).toString(8);
}

/** Looks at a file; `undefined` if it is not there, or cannot be looked at: to open it tells the reason. */
export function entryAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Copies a file, if it is there, into a new one of its owner alone: nobody else may read it, not even for a moment. */
export function copyPrivately(from: string, to: string): void {
  if (!existsSync(from)) return;
  newPrivateFile(to, from);
  copyFileSync(from, to);
  chmodSync(to, 0o600);
}

function tighten(path: string): void {
  const entry = entryAt(path);
  if (!entry?.isFile() || (entry.mode & 0o077) === 0) return;
  try {
    chmodSync(path, entry.mode & 0o700);
  } catch {
    // it is another user's: who may read it is theirs to say
  }
}
