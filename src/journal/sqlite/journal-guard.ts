import { randomUUID } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSluiceError, oneLine, type SluiceError } from 'sluice-kernel/internal';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { journalError } from '../errors.js';

/** The files of a journal, by the suffixes of its path. */
const files = ['', '-wal', '-shm', '-lock'] as const;

/** Nanoseconds after which the next change of a folder has another time, on each file system. */
const folderTimeNs = 3_000_000_000n;

/**
 * Checks that the writes of this process still get into the journal: its files are in their places, and no other process
 * has taken it over. A journal that is lost stays lost until it is opened again.
 *
 * @example
 * const guard = journalGuard(database);
 * guard.look(); // undefined
 */
export function journalGuard(database: SqliteDatabase) {
  /** The token in the database's row of its writer. */
  const token = randomUUID();
  let lost: SluiceError | undefined;
  database.transaction(() => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS writer (id INTEGER PRIMARY KEY CHECK (id = 1), token TEXT NOT NULL) STRICT',
    );
    database.prepare('INSERT OR REPLACE INTO writer (id, token) VALUES (1, ?)').run(token);
  });
  const { path } = database;
  const paths = path === ':memory:' ? [] : files.map((suffix) => `${path}${suffix}`);
  const known = new Map(paths.map((one) => [one, entryOf(one).identity]));
  /** The folder, if its own time shows that all files are still in their places. */
  let quiet: string | undefined;
  /** Compiled once, because each commit reads it. */
  const version = database.prepare('PRAGMA data_version');
  let seenVersion: number = readDataVersion();
  return { look, fail, entering, leaving, probe };

  /**
   * Looks at everything, as each commit does.
   *
   * @returns the reason why nothing may be acknowledged: for good, or because the disk could not be read this time.
   */
  function look(): SluiceError | undefined {
    if (lost === undefined && database.isOpen)
      try {
        lookAtFiles();
        lookAtWriter();
      } catch (error) {
        if (!isSluiceError(error)) throw error;
        return error;
      }
    return lost;
  }

  /** Ends all acknowledging, for a reason that somebody else has found. */
  function fail(problem: SluiceError): void {
    lost ??= problem;
  }

  function entering(): void {
    lookAtWriter();
    if (lost !== undefined) throw lost;
  }

  function leaving(): void {
    if (quiet === undefined || quiet !== stateOf(entryOf(dirname(path)))) lookAtFiles();
    if (lost !== undefined) throw lost;
  }

  /** Shows that the database takes writes, by a write that needs room. */
  function probe(): void {
    const write = database.prepare('UPDATE writer SET token = ? WHERE id = 1');
    write.run(token + ' '.repeat(16_384));
    write.run(token);
  }

  function lookAtFiles(): void {
    quiet = undefined;
    const folder = entryOf(dirname(path)); // before its files: a change that comes meanwhile shows at the next look
    const entries = [...known].map(([one, was]) => ({ one, was, ...entryOf(one) }));
    const gone = entries.find(({ identity, was }) => identity !== was);
    if (gone !== undefined) {
      const { one, identity } = gone;
      lose(identity === undefined ? `${one} is not there any more` : `${one} is another file now`);
      return;
    }
    const writtenNs = entries.find(({ one }) => one.endsWith('-wal'))?.changedNs ?? 0n;
    const isLinked = entries.some(({ isLink }) => isLink);
    if (!isLinked && writtenNs - folder.changedNs > folderTimeNs) quiet = stateOf(folder);
  }

  /** Looks at the writer's row, if somebody else has changed the database. */
  function lookAtWriter(): void {
    const dataVersion = readDataVersion();
    if (dataVersion === seenVersion) return;
    database.revision++;
    const row = database.prepare('SELECT token FROM writer WHERE id = 1').get();
    seenVersion = dataVersion;
    if (row?.['token'] !== token) lose('another process has opened it for writing');
  }

  function lose(problem: string): void {
    lost ??= journalError('journal-lost', { path: database.path, problem });
  }

  function readDataVersion(): number {
    return Number(version.get()?.['data_version'] ?? 0);
  }
}

/** Looks at a file, or at the one that a link leads to. @throws SluiceError `database-io` if the file system does not tell: it may still be there. */
function entryOf(path: string) {
  try {
    const link = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const isLink = link?.isSymbolicLink() ?? false;
    const entry = isLink ? statSync(path, { bigint: true, throwIfNoEntry: false }) : link;
    const identity = entry && `${entry.dev}:${entry.ino}`;
    return { identity, isLink, changedNs: entry?.mtimeNs ?? 0n };
  } catch (error) {
    throw journalError('database-io', { path, problem: oneLine(error) }, { cause: error });
  }
}

function stateOf({ identity, changedNs }: ReturnType<typeof entryOf>): string {
  return `${identity} ${changedNs}`;
}
