import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { importsOf } from '../../architecture/imports.js';
import { sourceFiles } from '../../support/source-tree.js';

/** Runs statements against the driver itself, in a process of its own. */
function withDriver(body: string): { readonly out: string; readonly signal: string | null } {
  const source = `import Driver from 'libsql';
    const db = new Driver(':memory:', {});
    db.exec('CREATE TABLE t (a)');
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    const rows = () => db.prepare('SELECT a FROM t').all().map((row) => row.a);
    const show = (value) => console.log(JSON.stringify(value));
    ${body}`;
  const args = ['--input-type=module', '--eval', source];
  const { stdout, signal } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { out: stdout.trim(), signal };
}

describe('why the database driver is called in one place only', () => {
  it('a boolean that is bound ends the process', () => {
    const { out, signal } = withDriver(`
      try { insert.run(true) } catch { }
      show('still here')`);
    expect(out).toBe('');
    expect(signal).toBe('SIGABRT');
  });

  it('a path with a zero character ends the process', () => {
    const { out, signal } = withDriver(`
      try { new Driver('/tmp/a\\0b', {}) } catch { }
      show('still here')`);
    expect(out).toBe('');
    expect(signal).toBe('SIGABRT');
  });

  it('a text is cut at a zero character, NaN becomes null, and a missing value is null', () => {
    const { out } = withDriver(`
      insert.run('a\\0b'); insert.run(NaN); insert.run();
      show(rows())`);
    expect(out).toBe('["a",null,null]');
  });

  it('a text that is not UTF-8 ends the process when it is read, and its bytes can be read (H1)', () => {
    const broken = `db.exec("INSERT INTO t VALUES (CAST(x'61ff' AS TEXT))");`;
    expect(withDriver(`${broken} try { rows() } catch { } show('still here')`)).toEqual({
      out: '',
      signal: 'SIGABRT',
    });
    const bytes = `${broken} const [row] = db.prepare('SELECT CAST(a AS BLOB) AS a FROM t').all();`;
    expect(withDriver(`${bytes} show([...new Uint8Array(row.a)])`).out).toBe('[97,255]');
  });

  it('null, finite numbers and texts come back as they were', () => {
    const { out, signal } = withDriver(`
      for (const value of [null, 0, -1.5, 2 ** 52, '', 'ä€😀']) insert.run([value]);
      show(rows())`);
    expect(signal).toBe(null);
    expect(out).toBe(JSON.stringify([null, 0, -1.5, 2 ** 52, '', 'ä€😀']));
  });

  it('a single null is taken for a list of values', () => {
    expect(withDriver('try { insert.run(null); show(1) } catch { show(2) }').out).toBe('2');
  });

  it('get after all runs nothing, and gives the row before', () => {
    const { out } = withDriver(`
      const echo = db.prepare('SELECT ? AS a');
      show([echo.all('first')[0].a, echo.get('second').a])`);
    expect(out).toBe('["first","first"]');
  });

  it('one file of this project imports it', () => {
    const importing = sourceFiles('src', 'extensions')
      .filter((file) => importsOf(file).some(({ specifier }) => specifier === 'libsql'))
      .map(({ path }) => path);
    expect(importing).toEqual(['src/journal/database/open-sqlite.ts']);
  });
});
