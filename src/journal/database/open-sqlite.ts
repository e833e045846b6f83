import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Driver from 'libsql';
import { isSluiceError, type SluiceError } from 'sluice-kernel';
import { journalError } from '../errors.js';
import { logDamage } from './log-damage.js';
import { makePrivate } from './private-file.js';
import { sqliteFailure } from './sqlite-failure.js';
import {
  brokenColumn,
  checkValues,
  placeholdersOf,
  type SqliteValue,
  type StoredRow,
  selectBytes,
  shortened,
  storedRow,
  withoutQuotes,
} from './sqlite-values.js';

/** Loads the native library when the first database is opened: a host without a journal does not need it. */
function loadDriver(): typeof Driver {
  return createRequire(import.meta.url)('libsql') as typeof Driver; // a CommonJS module, typed by its own declarations
}

/** Bytes that the write-ahead log keeps on the disk after its pages are in the file. */
const mostLogBytes = 16 * 1024 * 1024;

/** A row, by the names of its columns. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

/** The options of opening a database. */
export interface SqliteOptions {
  /** The file must be there, and nothing is ever written to it. */
  readonly readonly?: boolean;
  /** The most pages, of 4,096 bytes each, that the file may have. A write beyond it fails: `database-full`. */
  readonly maxPages?: number;
  /** Milliseconds to wait for another process that writes, by default 5 000. The whole process waits. */
  readonly busyTimeoutMs?: number;
  /** The file serves as a lock and holds nothing: it has no write-ahead log. */
  readonly isLock?: boolean;
  /** Opens the file also if its write-ahead log is damaged or its end is gone, to read the rest. */
  readonly isDamageExpected?: boolean;
}

/**
 * A statement that was compiled once. Its values are checked before each call. A text in the file that is not UTF-8 is
 * damage: `get` and `all` throw `database-damaged` with the name of its column.
 */
export interface SqliteStatement {
  /** Runs it for its effect. */
  run(...values: readonly SqliteValue[]): { readonly changes: number };
  /** Its first row, or `undefined`. */
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  /** All of its rows. */
  all(...values: readonly SqliteValue[]): SqliteRow[];
  /** All of its rows, also damaged ones: a text that is not UTF-8 is given as its bytes. */
  stored(...values: readonly SqliteValue[]): StoredRow[];
}

/**
 * An open database. Calls are synchronous. Each throws a `SluiceError`: `bad-value` and `database-failed` (wrong
 * SQL) are misuse; `database-damaged`, `-full`, `-read-only`, `-busy`, `-io`, `-constraint` and `-closed` tell its
 * state.
 */
export interface SqliteDatabase extends Disposable {
  readonly path: string;
  readonly isOpen: boolean;
  /** Grows when rows may be others than this process has written: a transaction was rolled back, or another process has written. */
  revision: number;
  /** True while a transaction is under way. */
  readonly inTransaction: boolean;
  /** Runs statements without values, and drops their rows. */
  exec(sql: string): void;
  /**
   * Compiles a statement. Values are bound to plain question marks. A statement that writes gives no rows: `RETURNING` is
   * refused, because the driver ends the process if it meets a damaged text there.
   */
  prepare(sql: string): SqliteStatement;
  /**
   * Runs `work` in one transaction that takes the write lock at once: all of it is on the disk then, or nothing.
   * An error of `work` is thrown on after the rollback. Transactions do not nest.
   */
  transaction<T>(work: () => T): T;
  /**
   * Reads every page, and looks up each row in each index.
   *
   * @throws SluiceError `database-damaged`, with the first damage.
   */
  check(): void;
  /** Rolls back a transaction under way, and closes. Statements are dead then. A second call does nothing. */
  close(): void;
}

/**
 * Opens an SQLite database, or makes one: with a write-ahead log, and each commit synced to the disk before it returns.
 * This is the one place that knows the driver.
 *
 * @param path `:memory:` makes one that is gone with the process.
 * @throws SluiceError `database-not-opened`, `database-damaged` (also a file that is none), `database-read-only`,
 *   `database-busy`.
 * @example
 * using database = openSqlite('./state.db');
 * database.exec('CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, body TEXT NOT NULL)');
 * const insert = database.prepare('INSERT INTO notes VALUES (?, ?)');
 * database.transaction(() => insert.run('a', JSON.stringify({ done: false })));
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteDatabase {
  return new OpenDatabase(path, options);
}

class OpenDatabase implements SqliteDatabase {
  readonly path: string;
  revision = 0;
  readonly #driver: Driver.Database;
  #isOpen = true;

  constructor(path: string, options: SqliteOptions) {
    const { readonly = false, maxPages, busyTimeoutMs = 5000, isLock = false } = options;
    this.path = path;
    if (path === '' || path.includes('\0'))
      throw journalError('database-not-opened', { path, problem: 'that is no path' });
    const inLog = isLock || options.isDamageExpected === true ? undefined : logDamage(path);
    if (inLog !== undefined) throw this.#damaged(inLog);
    if (!readonly && path !== ':memory:') makePrivate(path);
    this.#driver = this.#guarded(
      () => new (loadDriver())(nameOf(path, readonly), { timeout: busyTimeoutMs }),
    );
    try {
      if (options.isDamageExpected === true) this.exec('PRAGMA writable_schema = ON'); // reads a file that was cut off
      if (!readonly && !isLock) this.#prepareFile(maxPages, busyTimeoutMs);
      if (!isLock) this.#checkSchemaTexts(); // a file that cannot be read fails now, not later
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get inTransaction(): boolean {
    return this.#isOpen && this.#driver.inTransaction;
  }

  exec(sql: string): void {
    this.#guarded(() => this.#driver.exec(sql));
  }

  prepare(sql: string): SqliteStatement {
    const wanted = placeholdersOf(sql);
    const statement = this.#guarded(() => this.#compile(sql));
    const checked = <T>(values: readonly SqliteValue[], call: () => T): T => {
      checkValues(sql, wanted, values);
      return this.#guarded(call);
    };
    // The driver's own `get` is never used: after another call it gives the row of that call, and runs nothing. The values go
    // as one list, because the driver would take a single null for one.
    const stored = (...values: readonly SqliteValue[]): StoredRow[] =>
      checked(values, () => (statement.all(values) as SqliteRow[]).map(storedRow)); // the types that SQLite has
    const all = (...values: readonly SqliteValue[]): SqliteRow[] =>
      stored(...values).map((row) => {
        const broken = brokenColumn(row);
        if (broken === undefined) return row as SqliteRow; // it has no bytes
        throw this.#damaged(`a text in column "${broken}" is not UTF-8`);
      });
    return {
      run: (...values) => checked(values, () => ({ changes: statement.run(values).changes })),
      get: (...values) => all(...values)[0],
      all,
      stored,
    };
  }

  transaction<T>(work: () => T): T {
    if (this.inTransaction) throw this.#failed('a transaction is under way already');
    this.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      if (value instanceof Promise) {
        value.catch(() => undefined); // this error is told instead
        throw this.#failed('the work of a transaction may not wait');
      }
      this.exec('COMMIT');
      return value;
    } catch (error) {
      this.revision++;
      this.#rollBack();
      throw error;
    }
  }

  check(): void {
    const [row] = this.#rows('SELECT integrity_check FROM pragma_integrity_check(1)');
    const problem = String(row?.['integrity_check']);
    if (problem !== 'ok') throw this.#damaged(shortened(problem));
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#rollBack(); // a statement that nobody has collected yet keeps the file open: no lock may stay with it
    this.#isOpen = false;
    this.#driver.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #prepareFile(maxPages: number | undefined, busyTimeoutMs: number): void {
    this.exec('PRAGMA auto_vacuum = INCREMENTAL'); // of a new file, before anything is in it: so that it can shrink
    this.#useWriteAheadLog(busyTimeoutMs);
    this.exec('PRAGMA synchronous = FULL');
    this.exec(`PRAGMA journal_size_limit = ${mostLogBytes}`);
    this.exec('PRAGMA foreign_keys = ON');
    if (maxPages === undefined) return;
    if (!Number.isSafeInteger(maxPages) || maxPages < 1)
      throw this.#failed(`maxPages is ${maxPages}, which is no number of pages`);
    this.exec(`PRAGMA max_page_count = ${maxPages}`);
  }

  /** Asks again while another process makes the same file at the same time: SQLite does not wait here. */
  #useWriteAheadLog(busyTimeoutMs: number): void {
    const until = performance.now() + busyTimeoutMs;
    for (;;)
      try {
        this.#rows('PRAGMA journal_mode = WAL');
        return;
      } catch (error) {
        if (!isSluiceError(error, 'database-busy') || performance.now() >= until) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10); // the calls of a database are synchronous
      }
  }

  /** Rolls a transaction back, unless the database has done so itself, as for a full disk. */
  #rollBack(): void {
    if (!this.inTransaction) return;
    try {
      this.#driver.exec('ROLLBACK');
    } catch {
      // the error before it is thrown on, or the database closes: either ends the transaction
    }
  }

  #rows(sql: string): SqliteRow[] {
    return this.prepare(sql).all();
  }

  /** Checks the texts of the schema: the driver ends the process if a name or a type of a column is not UTF-8. */
  #checkSchemaTexts(): void {
    const sql = `SELECT hex(type || name || tbl_name || coalesce(sql, '')) AS bytes FROM sqlite_schema`;
    const rows = this.#guarded(() => this.#driver.prepare(sql).all([]) as SqliteRow[]); // hex digits
    if (rows.every(({ bytes }) => isUtf8(Buffer.from(String(bytes), 'hex')))) return;
    throw this.#damaged('its schema has a text that is not UTF-8');
  }

  /** Compiles a `SELECT` so that it gives its texts as bytes; a `PRAGMA` or `EXPLAIN` reads no row of a table. */
  #compile(sql: string): Driver.Statement {
    const statement = this.#driver.prepare(sql);
    if (!statement.reader || /^\s*(PRAGMA|EXPLAIN)\b/i.test(sql)) return statement;
    if (/\bRETURNING\b/i.test(withoutQuotes(sql)))
      throw this.#failed('a statement with RETURNING gives no rows here: read them by a SELECT');
    const columns = statement.columns().map(({ name }) => name);
    return this.#driver.prepare(selectBytes(sql, columns));
  }

  #guarded<T>(call: () => T): T {
    if (!this.#isOpen) throw journalError('database-closed', { path: this.path });
    try {
      return call();
    } catch (error) {
      throw sqliteFailure(this.path, error);
    }
  }

  #damaged(problem: string): SluiceError {
    return journalError('database-damaged', { path: this.path, problem });
  }

  #failed(problem: string): SluiceError {
    return journalError('database-failed', { path: this.path, problem });
  }
}

/** Names a file for the driver. It is absolute: a relative name could be read as a URI, or as an option of one. */
function nameOf(path: string, readonly: boolean): string {
  if (path === ':memory:') return path;
  return readonly ? `${pathToFileURL(resolve(path)).href}?mode=ro` : resolve(path);
}
