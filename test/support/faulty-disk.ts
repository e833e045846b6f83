import type * as NodeModule from 'node:module';
import type Driver from 'libsql';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';

/** How a call of the database's driver fails, as the driver says it: on the disk that it stands for, this did not work. */
export const diskFailures = {
  'EIO on fsync': { code: 'SQLITE_IOERR_FSYNC', message: 'disk I/O error' },
  'a short write': { code: 'SQLITE_IOERR_WRITE', message: 'disk I/O error' },
  'EIO on read': { code: 'SQLITE_IOERR_READ', message: 'disk I/O error' },
  ENOSPC: { code: 'SQLITE_FULL', message: 'database or disk is full' },
} as const;

export type DiskFailure = keyof typeof diskFailures;

/** A call of the driver. */
export interface DriverCall {
  readonly what: 'begin' | 'commit' | 'read' | 'write' | 'checkpoint';
}

/** The disk under every database of a test file: it says which calls fail. */
export interface FaultyDisk {
  /** This says of each call whether it fails. */
  fails(plan: (call: DriverCall) => DiskFailure | undefined): void;
  /** Everything works. */
  heals(): void;
}

/**
 * For a test file whose databases lie on a disk that fails. What the file tests is loaded anew for it, above that disk, and is
 * forgotten after it: test files share their modules.
 *
 * @param load imports it.
 * @returns both, when the tests run.
 */
export function onFaultyDisk<T>(load: () => Promise<T>): {
  readonly disk: FaultyDisk;
  readonly loaded: T;
} {
  const given: { disk?: FaultyDisk; loaded?: T } = {};
  beforeAll(async () => {
    vi.resetModules();
    // the host loads the driver by `require` when it opens its first database
    vi.doMock('node:module', async (original) => {
      const real = await original<typeof NodeModule>();
      const driver = real.createRequire(import.meta.url)('libsql') as typeof Driver; // as its declarations say
      const { Database, disk } = faultyDriver(driver);
      given.disk = disk;
      const createRequire = (from: string | URL) => {
        const require = real.createRequire(from);
        return Object.assign(
          (id: string): unknown => (id === 'libsql' ? Database : require(id)),
          require,
        );
      };
      return { ...real, createRequire };
    });
    given.loaded = await load();
  });
  afterEach(() => given.disk?.heals());
  afterAll(() => {
    vi.doUnmock('node:module');
    vi.resetModules();
  });
  return {
    get disk() {
      if (given.disk === undefined) throw new Error('it is there when the tests run');
      return given.disk;
    },
    get loaded() {
      if (given.loaded === undefined) throw new Error('it is there when the tests run');
      return given.loaded;
    },
  };
}

/** A class of databases whose calls fail as a disk says, in place of the driver's own; and that disk. */
interface FaultyDriver {
  readonly Database: new (name: string, options: object) => object;
  readonly disk: FaultyDisk;
}

/**
 * Puts a disk that fails beneath a database driver: above it is everything of a host. As in SQLite, an error of the disk rolls
 * the whole transaction back, and a failed commit keeps nothing.
 */
function faultyDriver(Real: typeof Driver): FaultyDriver {
  let plan: ((call: DriverCall) => DiskFailure | undefined) | undefined;
  const call = <T>(database: Driver.Database, sql: string, work: () => T): T => {
    const what = whatOf(sql);
    if (plan === undefined || what === undefined) return work();
    const failure = plan({ what });
    if (failure === undefined) return work();
    const isWhole = what === 'commit' || failure !== 'ENOSPC'; // a full disk ends the statement alone
    if (isWhole && database.inTransaction) database.exec('ROLLBACK');
    const { code, message } = diskFailures[failure];
    throw Object.assign(new Error(message), { name: 'SqliteError', code });
  };
  class Database {
    readonly #real: Driver.Database;
    readonly #isJournal: boolean;

    constructor(name: string, options: object) {
      this.#real = new Real(name, options);
      this.#isJournal = !name.endsWith('-lock');
    }

    get inTransaction(): boolean {
      return this.#real.inTransaction;
    }

    exec(sql: string): void {
      // it stands for the disk: nothing has to outlive the machine
      const how = sql === 'PRAGMA synchronous = FULL' ? 'PRAGMA synchronous = OFF' : sql;
      this.#call(sql, () => this.#real.exec(how));
    }

    prepare(sql: string): object {
      const statement = this.#real.prepare(sql);
      return {
        reader: statement.reader,
        columns: () => statement.columns(),
        run: (values: unknown[]) => this.#call(sql, () => statement.run(values)),
        all: (values: unknown[]) => this.#call(sql, () => statement.all(values)),
      };
    }

    close(): void {
      this.#real.close();
    }

    #call<T>(sql: string, work: () => T): T {
      return this.#isJournal ? call(this.#real, sql, work) : work();
    }
  }
  return {
    Database,
    disk: {
      fails: (given) => {
        plan = given;
      },
      heals: () => {
        plan = undefined;
      },
    },
  };
}

/** What a statement does on the disk; nothing where it needs none. */
function whatOf(sql: string): DriverCall['what'] | undefined {
  if (/^\s*BEGIN/i.test(sql)) return 'begin';
  if (/^\s*COMMIT/i.test(sql)) return 'commit';
  if (/^\s*ROLLBACK/i.test(sql)) return undefined;
  if (/wal_checkpoint/i.test(sql)) return 'checkpoint';
  return /^\s*(SELECT|PRAGMA|EXPLAIN)/i.test(sql) ? 'read' : 'write';
}
