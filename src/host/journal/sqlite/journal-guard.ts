import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { isSluiceError, oneLine, type SluiceError } from '../../../kernel/index.js';
import { hostError } from '../../errors.js';
import type { SqliteDatabase, SqliteStatement } from '../../sqlite/open-sqlite.js';
import type { CommitGuard } from '../commit/transactions.js';

/** The files of a journal, by the suffixes of its path. */
const files = ['', '-wal', '-shm', '-lock'] as const;

/**
 * Checks that the writes of this process still get into the journal: its files are in their places, and no other process
 * has taken it over. A journal that is lost stays lost until it is opened again.
 *
 * @example
 * const guard = new JournalGuard(database);
 * guard.look(); // undefined
 */
export class JournalGuard implements CommitGuard {
  readonly #database: SqliteDatabase;
  /** The token in the database's row of its writer. */
  readonly #token = randomUUID();
  readonly #known: ReadonlyMap<string, string | undefined>;
  /** Compiled once, because each commit reads it. */
  readonly #version: SqliteStatement;
  #dataVersion: number;
  #problem: SluiceError | undefined;

  /** Takes the journal over: an earlier owner learns so at its next write. */
  constructor(database: SqliteDatabase) {
    this.#database = database;
    database.transaction(() => {
      database.exec(
        'CREATE TABLE IF NOT EXISTS writer (id INTEGER PRIMARY KEY CHECK (id = 1), token TEXT NOT NULL) STRICT',
      );
      database.prepare('INSERT OR REPLACE INTO writer (id, token) VALUES (1, ?)').run(this.#token);
    });
    const { path } = database;
    const paths = path === ':memory:' ? [] : files.map((suffix) => `${path}${suffix}`);
    this.#known = new Map(paths.map((one) => [one, identityOf(one)]));
    this.#version = database.prepare('PRAGMA data_version');
    this.#dataVersion = this.#readDataVersion();
  }

  /**
   * Looks at everything, as each commit does.
   *
   * @returns the reason why nothing may be acknowledged: for good, or because the disk could not be read this time.
   */
  look(): SluiceError | undefined {
    if (this.#problem === undefined && this.#database.isOpen)
      try {
        this.#lookAtFiles();
        this.#lookAtWriter();
      } catch (error) {
        if (!isSluiceError(error)) throw error;
        return error;
      }
    return this.#problem;
  }

  /** Ends all acknowledging, for a reason that somebody else has found. */
  fail(problem: SluiceError): void {
    this.#problem ??= problem;
  }

  entering(): void {
    this.#lookAtWriter();
    if (this.#problem !== undefined) throw this.#problem;
  }

  leaving(): void {
    this.#lookAtFiles();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Shows that the database takes writes, by a write that needs room. */
  probe(): void {
    const write = this.#database.prepare('UPDATE writer SET token = ? WHERE id = 1');
    write.run(this.#token + ' '.repeat(16_384));
    write.run(this.#token);
  }

  #lookAtFiles(): void {
    for (const [path, was] of this.#known) {
      const is = identityOf(path);
      if (is === was) continue;
      this.#lose(
        is === undefined ? `${path} is not there any more` : `${path} is another file now`,
      );
      return;
    }
  }

  /** Looks at the writer's row, if somebody else has changed the database. */
  #lookAtWriter(): void {
    const dataVersion = this.#readDataVersion();
    if (dataVersion === this.#dataVersion) return;
    const row = this.#database.prepare('SELECT token FROM writer WHERE id = 1').get();
    this.#dataVersion = dataVersion;
    if (row?.['token'] !== this.#token) this.#lose('another process has opened it for writing');
  }

  #lose(problem: string): void {
    this.#problem ??= hostError('journal-lost', { path: this.#database.path, problem });
  }

  #readDataVersion(): number {
    return Number(this.#version.get()?.['data_version'] ?? 0);
  }
}

/** @throws SluiceError `database-io` if the file system does not tell: the file may still be there. */
function identityOf(path: string): string | undefined {
  try {
    const entry = statSync(path, { bigint: true, throwIfNoEntry: false });
    return entry === undefined ? undefined : `${entry.dev}:${entry.ino}`;
  } catch (error) {
    throw hostError('database-io', { path, problem: oneLine(error) }, { cause: error });
  }
}
