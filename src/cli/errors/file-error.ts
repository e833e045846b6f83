import { type Stats, statSync } from 'node:fs';
import { oneLine } from 'sluice-kernel/internal';
import { CommandError } from './command-error.js';

/** The cures for a file that the system refuses, by the code of the system. */
const cures: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room on the disk, and run it again.',
  EDQUOT: 'Make room in your quota, and run it again.',
  ENOTDIR: 'A file is where a folder has to be: name another place.',
  EEXIST: 'Something else is there: name another place.',
  EROFS: 'The disk can only be read: name another place.',
};

/** Says what to do about a file that cannot be used. */
export function cureOf(cause: unknown): string {
  return cures[codeOf(cause)] ?? 'Check the path and its permissions.';
}

/** Returns whether only a file can have such a cause. */
export function isKnownCause(cause: unknown): boolean {
  return Object.hasOwn(cures, codeOf(cause));
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

/** Makes the error of a file that cannot be read. The noun says which kind of file it is. */
export function fileError(
  cause: unknown,
  file: string,
  hint: string,
  noun: 'file' | 'journal' = 'file',
): CommandError {
  const code = codeOf(cause);
  if (code === 'ENOENT')
    return new CommandError('missing-file', `there is no ${noun} "${file}"`, hint, { cause });
  const why = code === 'EISDIR' ? 'it is a folder' : oneLine(cause);
  return new CommandError('unreadable-file', `"${file}" cannot be read: ${why}`, hint, { cause });
}

/**
 * Looks for a file before anything runs.
 *
 * @param file the path as the person wrote it, for the error.
 * @throws CommandError `missing-file`; `unreadable-file` for a folder, and for a path that this user may not look at.
 */
export function checkFile(
  path: string,
  file: string,
  hint: string,
  noun?: 'file' | 'journal',
): Stats {
  let entry: Stats;
  try {
    entry = statSync(path);
  } catch (cause) {
    throw fileError(cause, file, hint, noun);
  }
  if (!entry.isDirectory()) return entry;
  throw new CommandError('unreadable-file', `"${file}" cannot be read: it is a folder`, hint);
}
