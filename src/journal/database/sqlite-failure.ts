import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, oneLine, SluiceError } from 'sluice-kernel/internal';
import { journalError } from '../errors.js';
import { entryAt } from './private-file.js';

/** The codes of a database that failed. Of them, only `database-failed` is a mistake of the caller. */
type SqliteFailureCode = Extract<ErrorCode, `database-${string}`>;

/** Names and numbers of SQLite. Extended numbers that the driver knows no name for, such as 1544, end with that of their kind. */
const codes: readonly (readonly [prefix: string, kind: number, code: SqliteFailureCode])[] = [
  ['SQLITE_NOTADB', 26, 'database-damaged'],
  ['SQLITE_CORRUPT', 11, 'database-damaged'],
  ['SQLITE_FULL', 13, 'database-full'],
  ['SQLITE_READONLY', 8, 'database-read-only'],
  ['SQLITE_BUSY', 5, 'database-busy'],
  ['SQLITE_LOCKED', 6, 'database-busy'],
  ['SQLITE_IOERR', 10, 'database-io'],
  ['SQLITE_CANTOPEN', 14, 'database-not-opened'],
  ['SQLITE_PERM', 3, 'database-not-opened'],
  ['SQLITE_CONSTRAINT', 19, 'database-constraint'],
];

/** Turns an error of the driver into one of this project, whose code leads to the cure. */
export function sqliteFailure(path: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const problem = oneLine(error);
  const driverCode = codeOf(error);
  const kind = Number(/^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(driverCode)?.[1]) % 256;
  const code =
    codes.find(([prefix, of]) => driverCode.startsWith(prefix) || of === kind)?.[2] ??
    (/ConnectionFailed/.test(problem)
      ? 'database-not-opened'
      : /unsupported (file format|encoding)/.test(problem)
        ? 'database-damaged' // a byte of the file's head that no statement can be at fault for
        : 'database-failed');
  const what = code === 'database-not-opened' ? whyNotOpened(path, problem) : problem;
  return journalError(code, { path, problem: what }, { cause: error });
}

/** Finds the reason why a file cannot be opened: the driver gives a number, and the file system says more. */
function whyNotOpened(path: string, problem: string): string {
  const file = path.startsWith('file:') ? fileURLToPath(path) : resolve(path);
  const folder = dirname(file);
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return 'it is a folder';
    if (found !== undefined) return problem;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return `${folder} is not a folder`;
    return oneLine(error).replace(/, stat '.*$/, ''); // a name that is too long, say
  }
  const entry = entryAt(folder);
  if (entry === undefined) return `there is no folder ${folder}`;
  return entry.isDirectory() ? `no file can be made in ${folder}` : `${folder} is not a folder`; // Node 24 throws no ENOTDIR
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
