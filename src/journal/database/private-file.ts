import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';

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
    if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
  } catch {
    return; // the driver says what is wrong with it
  }
  for (const suffix of ['', ...suffixes]) tighten(path + suffix);
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

/** Copies a file, if it is there, into a new one for this user alone: nobody else may read it, not even for a moment. */
export function copyPrivately(from: string, to: string): void {
  if (!existsSync(from)) return;
  closeSync(openSync(to, 'wx', 0o600));
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
