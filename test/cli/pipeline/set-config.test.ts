import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { openStore } from '../../../src/sdk/extension/internal.js';
import { testFolder } from '../../support/folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** An extension that says its config instead of each reply; it wants a URL. */
function teller(folder: string, id = 'acme.tell'): string {
  const path = join(folder, `${id}.mjs`);
  writeFileSync(
    path,
    `export default { kind: 'sluice-extension', id: '${id}', manifest: {},
      config: { '~standard': { version: 1, vendor: 'test', validate: (value) =>
        value.url === undefined ? { issues: [{ message: 'must be a URL', path: ['url'] }] } : { value } } },
      setup(api, config) {
        api.mutate('egress.preparing', 'tell', () => ({ content: JSON.stringify(config) }));
      } };`,
  );
  return path;
}

describe('--set (A8, extensions-that-act §3.3)', () => {
  it('gives an extension of the command line its config, as JSON or as text', async () => {
    const extension = teller(testFolder());
    const sets = ['url=http://127.0.0.1/?a=b', 'tries=3', 'deep.on=true'];
    const args = sets.flatMap((set) => ['--set', `acme.tell.${set}`]);
    const { code, stdout, stderr } = await runInMemory(
      ['run', '--quiet', '--no-config', '-e', extension, ...args],
      'hi\n',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      url: 'http://127.0.0.1/?a=b',
      tries: 3,
      deep: { on: true },
    });
  });

  it('wins over the config file, setting by setting', async () => {
    const cwd = testFolder();
    const path = teller(cwd);
    const config = { url: 'file', deep: { on: false, off: 1 } };
    writeFileSync(
      join(cwd, 'sluice.config.json'),
      JSON.stringify({ extensions: [{ path, config }] }),
    );
    const args = ['run', '--quiet', '--set', 'acme.tell.deep.on=true'];
    const { stdout } = await runInMemory(args, 'hi\n', { cwd });
    expect(JSON.parse(stdout)).toEqual({ url: 'file', deep: { on: true, off: 1 } });
  });

  it('sets one entry of a list, and leaves the others', async () => {
    const cwd = testFolder();
    const config = { url: 'file', days: ['mon', 'tue'] };
    const extensions = [{ path: teller(cwd), config }];
    writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ extensions }));
    const args = ['run', '--quiet', '--set', 'acme.tell.days.1=wed'];
    const { stdout } = await runInMemory(args, 'hi\n', { cwd });
    expect(JSON.parse(stdout)).toEqual({ url: 'file', days: ['mon', 'wed'] });
  });

  it('is named by the error of a setting that is missing', async () => {
    const args = ['run', '--quiet', '--no-config', '-e', teller(testFolder())];
    const { stderr } = await runInMemory(args, '');
    expect(stderr).toContain('config.url: must be a URL');
    expect(stderr).toContain('--set acme.tell.KEY=VALUE');
  });

  it.each(['url', 'acme=1', '.url=1', 'acme..x=1', 'acme.__proto__.x=1'])(
    'is refused in one line if it is no setting: %s',
    async (set) => {
      const { code, stderr } = await runInMemory(['run', '--no-config', '--set', set], '');
      expect(code).toBe(2);
      expect(stderr).toMatch(/^sluice: bad-arguments: --set is ".*\n$/);
    },
  );

  it('tells of an id that no extension has', async () => {
    const args = ['--no-config', '-e', teller(testFolder()), '--set', 'acme.tel.url=1'];
    const { code, stderr } = await runInMemory(['run', '--quiet', '--strict', ...args], '');
    expect(code).toBe(2);
    expect(stderr).toContain('--set acme.tel.url names no extension that is loaded');
  });
});

describe('a --set that does not do what it seems to (extensions-that-act §3.3)', () => {
  it('is told if it would set something of two extensions', async () => {
    const folder = testFolder();
    const both = ['acme', 'acme.tell'].flatMap((id) => ['-e', teller(folder, id)]);
    const urls = ['--set', 'acme.url=1', '--set', 'acme.tell.url=2'];
    const { code, stderr } = await runInMemory(
      ['run', '--quiet', '--strict', '--no-config', ...both, ...urls],
      '',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('--set acme.tell.url names a setting of "acme" and of "acme.tell"');
    expect(stderr).not.toContain('--set acme.url names');
  });

  it('sets nothing of two extensions', async () => {
    const folder = testFolder();
    const both = ['acme', 'acme.tell'].flatMap((id) => ['-e', teller(folder, id)]);
    const urls = ['acme.url=1', 'acme.tell.url=2'].flatMap((set) => ['--set', set]);
    const args = ['run', '--quiet', '--no-config', ...both, ...urls];
    const { stdout, stderr } = await runInMemory(args, 'hi\n');
    expect(JSON.parse(stdout)).toEqual({ url: 1 });
    expect(stderr).toContain('must be a URL'); // of `acme.tell`, which got none
  });

  it('is told if the extension leaves it out, because it does not know it', async () => {
    const folder = testFolder();
    const path = join(folder, 'loose.mjs');
    writeFileSync(
      path,
      `export default { kind: 'sluice-extension', id: 'loose', manifest: {},
        config: { '~standard': { version: 1, vendor: 'test', validate: ({ url = 'none', deep = {} }) =>
          ({ value: { url, deep: { on: deep.on ?? false } } }) } },
        setup() {} };`,
    );
    const sets = ['url=none', 'deep.on=true', 'urll=1', 'deep.onn=true'];
    const args = sets.flatMap((set) => ['--set', `loose.${set}`]);
    const { code, stderr } = await runInMemory(
      ['run', '--quiet', '--strict', '--no-config', '-e', path, ...args],
      '',
    );
    expect(code).toBe(2);
    expect(stderr.match(/--set \S+ changes nothing/g)).toEqual([
      '--set loose.urll changes nothing',
      '--set loose.deep.onn changes nothing',
    ]);
  });
});

describe('sluice doctor (extensions-that-act §2.8)', () => {
  it('warns of values of an extension that is not loaded any more, and not of those of a plugin', async () => {
    const folder = testFolder();
    const journal = await openJournal(join(folder, 'sluice.db'));
    const plugin = join(folder, 'pigeon');
    mkdirSync(plugin);
    writeFileSync(join(plugin, 'index.mjs'), 'export default () => {};');
    writeFileSync(
      join(plugin, 'openclaw.plugin.json'),
      JSON.stringify({ id: 'pigeon', configSchema: { type: 'object' } }),
    );
    writeFileSync(
      join(plugin, 'package.json'),
      JSON.stringify({ openclaw: { extensions: ['./index.mjs'] } }),
    );
    for (const id of ['gone', 'acme.tell', 'pigeon', '/schedules'])
      await openStore(id, { values: journal.keyValues, now: () => Date.now() }).set('key', 1);
    await journal.close();
    const extensions = [{ path: teller(folder), config: { url: 'x' } }];
    const plugins = [{ path: plugin }];
    const config = { journal: { path: './sluice.db' }, extensions, plugins };
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify(config));
    const { stdout } = await runInMemory(['doctor', '--json'], '', { cwd: folder });
    const found = jsonLines<{ check: string; severity: string; what: string; hint?: string }>(
      stdout,
    );
    expect(found.filter(({ check, severity }) => check === 'journal' && severity !== 'ok')).toEqual(
      [
        expect.objectContaining({
          severity: 'warning',
          what: 'keeps 1 value of the extension "gone", which is not loaded',
          hint: 'Load the extension, or delete them: sluice store clear gone.',
        }),
      ],
    );
  });
});
