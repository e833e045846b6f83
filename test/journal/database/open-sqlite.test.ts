import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite, type SqliteDatabase, type SqliteValue } from '../../../src/journal/index.js';
import { compiled } from '../../support/compiled.js';
import { testFolder } from '../../support/folder.js';
import { folderOfUser } from '../../support/other-user.js';

function withTable(path = ':memory:', options = {}): SqliteDatabase {
  const database = openSqlite(path, options);
  database.exec('CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, body)');
  return database;
}

function fill(database: SqliteDatabase, rows: number): void {
  const insert = database.prepare('INSERT INTO notes VALUES (?, ?)');
  database.transaction(() => {
    for (let row = 0; row < rows; row++) insert.run(`note ${row}`, 'x'.repeat(500));
  });
}

/** A file with 1,000 rows in it, written to its end. */
function filledFile(folder = testFolder()): string {
  const path = join(folder, 'filled.db');
  const database = withTable(path);
  fill(database, 1_000);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return path;
}

function linkToItself(folder: string): string {
  const path = join(folder, 'state.db');
  symlinkSync(path, path);
  return path;
}

const code = (wanted: string) => expect.objectContaining({ code: wanted });

describe('a database', () => {
  it('keeps what was written, and gives it to the next that opens it', () => {
    const path = join(testFolder(), 'state.db');
    {
      using first = withTable(path);
      expect(first.prepare('INSERT INTO notes VALUES (?, ?)').run('a', null)).toEqual({
        changes: 1,
      });
    }
    using second = withTable(path);
    const select = second.prepare('SELECT * FROM notes WHERE id = ?');
    expect([select.get('a'), select.all('a'), select.get('b')]).toEqual([
      { id: 'a', body: null },
      [{ id: 'a', body: null }],
      undefined,
    ]);
  });

  it('has a write-ahead log, and syncs each commit', () => {
    using database = withTable(join(testFolder(), 'state.db'));
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {});
    expect([pragma('journal_mode'), pragma('synchronous')]).toEqual([['wal'], [2]]);
  });

  it('gives back every text and number that it takes, as it was (property)', {
    timeout: 300_000,
  }, () => {
    using database = withTable();
    database.exec('CREATE TABLE any_value (a)');
    const insert = database.prepare('INSERT INTO any_value VALUES (?)');
    const select = database.prepare('SELECT a FROM any_value ORDER BY rowid DESC LIMIT 1');
    const value: fc.Arbitrary<SqliteValue> = fc.oneof(
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
      fc.maxSafeInteger(),
      fc
        .double({ noDefaultInfinity: true, noNaN: true })
        .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number)),
      fc.constant(null),
    );
    fc.assert(
      fc.property(value, (one) => {
        insert.run(one);
        expect(select.get()).toEqual({ a: one });
      }),
    );
  });

  it.each<[string, unknown[]]>([
    ['a boolean', [true]],
    ['an object', [{}]],
    ['an array', [['a']]],
    ['undefined', [undefined]],
    ['a bigint', [1n]],
    ['NaN', [Number.NaN]],
    ['an infinite number', [Number.POSITIVE_INFINITY]],
    ['an integer that is not exact', [2 ** 60]],
    ['a text with a zero character', ['a\0b']],
    ['half a surrogate pair', ['\ud800']],
    ['too few values', []],
    ['too many values', ['a', 'b']],
  ])('refuses %s before the driver sees it', (_, values) => {
    using database = withTable();
    const statement = database.prepare('SELECT ? AS a');
    for (const call of [statement.run, statement.get, statement.all])
      expect(() => call(...(values as SqliteValue[]))).toThrow(code('bad-value'));
    expect(statement.get('fine')).toEqual({ a: 'fine' });
  });

  it('counts plain question marks, and not those in quotes and comments', () => {
    using database = withTable();
    const statement = database.prepare(`SELECT ? AS a, '?''?' AS "b?" -- what?
      /* ? */ WHERE ? = 1`);
    expect(statement.get('x', 1)).toEqual({ a: 'x', 'b?': "?'?" });
    expect(() => database.prepare('SELECT :name')).toThrow(code('bad-value'));
  });

  it('keeps all of a transaction or nothing, and throws on what its work threw', () => {
    using database = withTable();
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?)');
    expect(database.transaction(() => insert.run('a', 1).changes)).toBe(1);
    const problem = new Error('no');
    expect(() =>
      database.transaction(() => {
        insert.run('b', 2);
        throw problem;
      }),
    ).toThrow(problem);
    expect(database.inTransaction).toBe(false);
    expect(database.prepare('SELECT id FROM notes').all()).toEqual([{ id: 'a' }]);
  });

  it('takes no work that waits, and no transaction within one', () => {
    using database = withTable();
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?)');
    expect(() => database.transaction(async () => insert.run('a', 1))).toThrow(
      code('database-failed'),
    );
    expect(() => database.transaction(() => database.transaction(() => 1))).toThrow(
      code('database-failed'),
    );
    expect(database.prepare('SELECT id FROM notes').all()).toEqual([]);
  });

  it('is dead once it is closed, also by its statements; closing it twice is fine', () => {
    const database = withTable();
    const select = database.prepare('SELECT 1');
    database.close();
    database.close();
    expect(database.isOpen).toBe(false);
    for (const use of [
      () => select.all(),
      () => database.exec('SELECT 1'),
      () => database.prepare('SELECT 1'),
    ])
      expect(use).toThrow(code('database-closed'));
  });

  it('leaves no lock behind when it is closed in a transaction', () => {
    const path = join(testFolder(), 'state.db');
    const first = withTable(path);
    const insert = first.prepare('INSERT INTO notes VALUES (?, ?)');
    first.exec('BEGIN IMMEDIATE');
    insert.run('a', 1);
    first.close();
    using second = withTable(path, { busyTimeoutMs: 0 });
    expect(second.transaction(() => second.prepare('SELECT * FROM notes').all())).toEqual([]);
  });

  it('gives a text that is not UTF-8 as damage, or as its bytes; never as a text (H1)', () => {
    using database = withTable();
    database.exec(
      `INSERT INTO notes VALUES ('fine', '\ufeffä'), ('broken', CAST(x'61ff' AS TEXT))`,
    );
    const select = database.prepare('SELECT id, body FROM notes WHERE id = ?; ');
    expect(select.get('fine')).toEqual({ id: 'fine', body: '\ufeffä' });
    expect(() => select.all('broken')).toThrow(code('database-damaged'));
    expect(() => select.get('broken')).toThrow(/column "body"/);
    expect(select.stored('broken')).toEqual([{ id: 'broken', body: Buffer.from([0x61, 0xff]) }]);
    expect(() => database.prepare('DELETE FROM notes RETURNING body')).toThrow(/RETURNING/);
    expect(database.prepare("SELECT 'returning' AS a").get()).toEqual({ a: 'returning' });
  });

  it('names wrong SQL, and a row that its table refuses', () => {
    using database = withTable();
    expect(() => database.exec('CREAT TABLE')).toThrow(code('database-failed'));
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?)');
    insert.run('a', 1);
    expect(() => insert.run('a', 1)).toThrow(code('database-constraint'));
  });

  it('opened to be read is never written to', () => {
    const path = filledFile();
    using database = openSqlite(path, { readonly: true });
    expect(database.prepare('SELECT count(*) AS n FROM notes').get()).toEqual({ n: 1_000 });
    expect(() => database.exec('DELETE FROM notes')).toThrow(code('database-read-only'));
    expect(() => openSqlite(join(testFolder(), 'none.db'), { readonly: true })).toThrow(
      code('database-not-opened'),
    );
  });
});

describe('fault 35: a database that cannot be used', () => {
  it.each<[string, (folder: string) => string]>([
    ['a folder that is not there', (folder) => join(folder, 'none', 'state.db')],
    ['a folder in place of a file', (folder) => folder],
    ['no path', () => ''],
    ['a path with a zero character', (folder) => join(folder, 'a\0b')],
    ['a file system without files to make', () => '/proc/state.db'],
    ['a name that is too long', (folder) => join(folder, 'x'.repeat(300))],
    [
      'a name that leaves no room for the names beside it',
      (folder) => join(folder, 'x'.repeat(252)),
    ],
    ['a link that leads to itself', linkToItself],
  ])('%s', (_, path) => {
    expect(() => openSqlite(path(testFolder()))).toThrow(code('database-not-opened'));
  });

  it.each<[string, string | Buffer]>([
    ['a foreign file', 'It is a text, and not a short one. '.repeat(100)],
    ['a short file', 'short'],
    ['a file of zeros', Buffer.alloc(8_192)],
  ])('%s', (_, content) => {
    const path = join(testFolder(), 'state.db');
    writeFileSync(path, content);
    expect(() => openSqlite(path)).toThrow(code('database-damaged'));
  });

  it.each<[string, (path: string, bytes: Buffer) => void]>([
    [
      'bytes that are flipped',
      (path, bytes) => {
        for (let at = 4_096; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
        writeFileSync(path, bytes);
      },
    ],
    ['pages of zeros', (path, bytes) => writeFileSync(path, bytes.fill(0, 8_192, 65_536))],
    [
      'swapped pages',
      (path, bytes) => {
        const third = Buffer.from(bytes.subarray(8_192, 12_288));
        bytes.copyWithin(8_192, 40_960, 45_056);
        third.copy(bytes, 40_960);
        writeFileSync(path, bytes);
      },
    ],
    ['bytes that are gone', (path) => truncateSync(path, 40_000)],
  ])('%s are found by a check', (_, damage) => {
    const path = filledFile();
    damage(path, readFileSync(path));
    expect(() => {
      using database = openSqlite(path);
      database.check();
    }).toThrow(code('database-damaged'));
  });

  it('has nothing to say of a file that is well', () => {
    using database = openSqlite(filledFile());
    database.check();
  });

  it('a full one says so, keeps what it had, and takes more once there is room', () => {
    const path = join(testFolder(), 'state.db');
    using database = withTable(path, { maxPages: 8 });
    fill(database, 5);
    expect(() => fill(database, 500)).toThrow(code('database-constraint')); // note 0 is there
    const more = database.prepare('INSERT INTO notes VALUES (?, ?)');
    expect(() =>
      database.transaction(() => {
        for (let row = 0; row < 500; row++) more.run(`more ${row}`, 'x'.repeat(500));
      }),
    ).toThrow(code('database-full'));
    expect(database.inTransaction).toBe(false);
    expect(database.prepare('SELECT count(*) AS n FROM notes').get()).toEqual({ n: 5 });
    database.exec('PRAGMA max_page_count = 1000');
    expect(more.run('more', 1)).toEqual({ changes: 1 });
    expect(() => openSqlite(path, { maxPages: 0.5 })).toThrow(code('database-failed'));
  });

  it('one that somebody else writes to says so when the wait is over', () => {
    const path = join(testFolder(), 'state.db');
    using first = withTable(path);
    using second = withTable(path, { busyTimeoutMs: 0 });
    first.transaction(() => {
      expect(() => second.transaction(() => 1)).toThrow(code('database-busy'));
    });
    expect(second.transaction(() => 1)).toBe(1);
  });

  it('a write that the system refuses is told as that, and what was persisted stays (child process)', async () => {
    const path = join(testFolder(), 'state.db');
    const child = await compiled(
      fileURLToPath(new URL('./fixtures/small-files.ts', import.meta.url)),
    );
    // No file may grow beyond 64 blocks of 1,024 bytes: the write that would is refused by the system.
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', 'ulimit -f 64; exec "$@"', 'bash', process.execPath, child, path],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ code: 'database-io', rows: 1, inTransaction: false });
  });

  it.each(['as a process leaves it', 'without a log'])(
    'a folder that may not be written to says so, %s (child process)',
    async (left) => {
      const folder = folderOfUser('sluice-test-');
      onTestFinished(() => {
        chmodSync(folder, 0o700); // it is emptied by its owner, who may not be root
        rmSync(folder, { recursive: true, force: true });
      });
      const path = filledFile(folder);
      if (left === 'without a log')
        for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      const child = await compiled(
        fileURLToPath(new URL('./fixtures/other-user.ts', import.meta.url)),
      );
      const { stdout, stderr } = spawnSync(process.execPath, [child, path], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual({
        write: 'database-read-only',
        create: 'database-not-opened',
      });
    },
  );
});

describe('M2: who may read the files of a database (durability §1.13)', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

  it('its own user alone, whatever the umask is', () => {
    const path = join(testFolder(), 'state.db');
    const before = process.umask(0);
    try {
      using database = withTable(path);
      fill(database, 1);
      using _lock = openSqlite(`${path}-lock`, { isLock: true });
      for (const suffix of ['', '-wal', '-shm', '-lock'])
        expect([suffix, modeOf(path + suffix)]).toEqual([suffix, '600']);
    } finally {
      process.umask(before);
    }
  });

  it('without giving up a lock that this process has, nor one of its log (child process)', {
    timeout: 300_000,
  }, () => {
    const path = join(testFolder(), 'state.db');
    using lock = openSqlite(path, { isLock: true });
    lock.exec('BEGIN EXCLUSIVE');
    expect(() => {
      using again = openSqlite(path, { isLock: true, busyTimeoutMs: 0 });
      again.exec('BEGIN EXCLUSIVE');
    }).toThrow(code('database-busy'));
    const other = `import Driver from 'libsql';
      try { new Driver(process.argv[1]).exec('BEGIN EXCLUSIVE'); console.log('not locked'); }
      catch (error) { console.log(error.code); }`;
    const args = ['--input-type=module', '--eval', other, path];
    expect(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout).toBe('SQLITE_BUSY\n');
    const kept = join(testFolder(), 'kept.db');
    using first = withTable(kept);
    first.exec('BEGIN IMMEDIATE'); // the lock of the log is on its index
    using _second = openSqlite(kept, { readonly: true });
    const writer = other.replace('EXCLUSIVE', 'IMMEDIATE');
    const ofLog = ['--input-type=module', '--eval', writer, kept];
    expect(spawnSync(process.execPath, ofLog, { encoding: 'utf8' }).stdout).toBe('SQLITE_BUSY\n');
  });

  it('others no more, where they could', () => {
    const path = join(testFolder(), 'state.db');
    using first = withTable(path);
    fill(first, 1);
    for (const suffix of ['', '-wal', '-shm']) chmodSync(path + suffix, 0o664);
    using _second = withTable(path);
    for (const suffix of ['', '-wal', '-shm'])
      expect([suffix, modeOf(path + suffix)]).toEqual([suffix, '600']);
  });
});

describe('a database in a folder of its own', () => {
  it('opens names that look like options', () => {
    const folder = join(testFolder(), 'a?mode=ro#50%25 b');
    mkdirSync(folder);
    const path = join(folder, 'file:x?mode=memory.db');
    withTable(path).close();
    using database = openSqlite(path, { readonly: true });
    expect(database.prepare('SELECT * FROM notes').all()).toEqual([]);
  });
});
