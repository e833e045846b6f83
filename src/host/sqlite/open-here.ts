import { fstatSync, readdirSync, statSync } from 'node:fs';

/**
 * Tells whether this process has a file open. To close any handle of a file gives up all locks that the process has on it, also
 * those of SQLite: so a file that SQLite may have open is not opened beside it.
 */
export function isOpenHere(path: string): boolean {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (file === undefined || process.platform === 'win32') return false; // locks belong to the handle there
  return handles().some((handle) => {
    try {
      const { dev, ino } = fstatSync(handle, { bigint: true });
      return dev === file.dev && ino === file.ino;
    } catch {
      return false; // the one that the list was read with
    }
  });
}

function handles(): readonly number[] {
  try {
    return readdirSync('/dev/fd').map(Number);
  } catch {
    return Array.from({ length: 1_024 }, (_, handle) => handle);
  }
}
