import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliProcess, jsonLines, runCli } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';

let cwd = '';
let env: Readonly<Record<string, string>> = {};

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-plugin-')));
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: cwd,
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_fetch_retries: '0',
  };
});

afterEach(() => rmSync(cwd, { recursive: true }));

const sluice = (...args: readonly string[]) => runInMemory(['plugin', ...args], '', { cwd, env });
const text = (file: string): string => readFileSync(join(cwd, file), 'utf8');
const hook = `export default (api) => { api.on('message_sending', () => undefined); };`;

/** Writes files below the folder of the test. */
function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [file, content] of Object.entries(files)) {
    const path = join(cwd, folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return folder;
}

/** Writes a plugin's package. */
const plugin = (folder: string, more: Readonly<Record<string, string>> = {}, id = 'acme'): string =>
  write(folder, {
    'openclaw.plugin.json': JSON.stringify({ id, version: '1.2.0', configSchema: {} }),
    'package.json': JSON.stringify({
      ...{ name: `pkg-${id}`, version: '1.2.0', type: 'module' },
      openclaw: { extensions: ['./index.js'] },
      scripts: { install: "node -e \"require('fs').writeFileSync(process.env.HOME+'/ran','')\"" },
    }),
    'index.js': hook,
    ...more,
  });

/** The `package.json` of a plugin whose id is no name of a package. */
const packageOf = (name: string): string =>
  JSON.stringify({
    ...{ name, version: '1.2.0', type: 'module', openclaw: { extensions: ['./index.js'] } },
  });

/** Packs a folder as npm does. */
function packed(folder: string): string {
  execFileSync('tar', ['-czf', `${folder}.tgz`, '--transform', `s,^${folder},package,`, folder], {
    cwd,
  });
  return `${folder}.tgz`;
}

describe('sluice plugin add (event-pipeline §17.15)', () => {
  it('names a folder in a config of its own, and says what the plugin becomes', async () => {
    plugin('acme');
    const { code, stdout } = await sluice('add', './acme');
    expect(code).toBe(0);
    expect(stdout).toContain('becomes egress.preparing, veto, sequential');
    expect(stdout).toContain('sluice.config.json: ./acme');
    expect(JSON.parse(text('sluice.config.json'))).toEqual({ plugins: [{ path: './acme' }] });
    const again = await sluice('add', './acme');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('names it already') });
    expect(JSON.parse(text('sluice.config.json')).plugins).toHaveLength(1);
  });

  it('checks a plugin of the config by its id, also one that is a folder (event-pipeline §17.15)', async () => {
    plugin('src');
    expect(await sluice('add', './src')).toMatchObject({ code: 0 });
    const { code, stdout } = await sluice('check', 'acme');
    expect(code).toBe(0);
    expect(stdout).toContain('acme (acme) works');
  });

  it('leaves all else in a config as it is written', async () => {
    plugin('acme');
    plugin('b', {}, 'b');
    const config =
      '{\n\t"agent": "echo",   "plugins": [\n\t\t{ "path": "./acme",\n\t\t  "config": {"a":1} }\n\t],\n\n\t"strict": false }';
    write('.', { 'sluice.config.json': config });
    await sluice('add', './b');
    expect(text('sluice.config.json')).toBe(
      config.replace('{"a":1} }', '{"a":1} },\n\t\t{ "path": "./b" }'),
    );
    await sluice('remove', 'b');
    expect(text('sluice.config.json')).toBe(config);
    await sluice('add', './b');
    await sluice('remove', './acme');
    expect(JSON.parse(text('sluice.config.json'))).toEqual({
      ...{ agent: 'echo', strict: false },
      plugins: [{ path: './b' }],
    });
  });

  it('installs a tarball beside the config without running its scripts, and replaces it', async () => {
    plugin('src');
    expect(await sluice('add', packed('src'))).toMatchObject({ code: 0 });
    const path = './sluice-plugins/acme/node_modules/pkg-acme';
    expect(JSON.parse(text('sluice.config.json'))).toEqual({ plugins: [{ path }] });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
    plugin('src', { 'new.js': '' });
    expect(await sluice('add', packed('src'))).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, path, 'new.js'))).toBe(true);
    expect(jsonLines((await sluice('list', '--json')).stdout)).toEqual([
      { path, id: 'acme', version: '1.2.0', isInConfig: true, isInstalled: true },
    ]);
    expect((await sluice('check', 'acme')).stdout).toContain('acme (acme) works');
    const report = join(cwd, 'acme.md');
    const checked = await sluice('check', 'acme', '--json', '--report', report);
    expect(jsonLines(checked.stdout)).toMatchObject([{ schemaVersion: 1, verdict: 'works-but' }]);
    expect(readFileSync(report, 'utf8')).toMatch(/^# acme \(acme\) works, with limits\n/);
    expect((await sluice('remove', 'acme')).code).toBe(0);
    expect(existsSync(join(cwd, 'sluice-plugins'))).toBe(false);
    expect(JSON.parse(text('sluice.config.json'))).toEqual({ plugins: [] });
    expect(await sluice('remove', 'acme')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no plugin "acme"'),
    });
  });

  it('installs a package of the registry by its name', async () => {
    plugin('src');
    const tarball = readFileSync(join(cwd, packed('src')));
    const server = createServer(({ url }, response) => {
      const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const dist = { tarball: `${host}/pkg-acme.tgz` };
      const versions = { '1.2.0': { name: 'pkg-acme', version: '1.2.0', dist } };
      if (url?.endsWith('.tgz') === true) response.end(tarball);
      else if (url !== '/pkg-acme') response.writeHead(404).end('{}');
      else
        response.end(
          JSON.stringify({ name: 'pkg-acme', 'dist-tags': { latest: '1.2.0' }, versions }),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    env = {
      ...env,
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    };
    try {
      expect(await sluice('add', 'pkg-acme@1.2.0')).toMatchObject({ code: 0 });
      expect(text('sluice.config.json')).toContain('"./sluice-plugins/acme/node_modules/pkg-acme"');
      const missing = await sluice('add', 'pkg-none');
      expect(missing).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('npm finds no package "pkg-none"'),
      });
      expect(readdirSync(join(cwd, 'sluice-plugins'))).toEqual(['acme']);
    } finally {
      server.close();
    }
  });

  it('leaves nothing of a plugin that cannot be had or set up', async () => {
    write('empty', { 'package.json': '{"name":"empty","version":"1.0.0"}' });
    plugin('throws', { 'index.js': 'export default () => { throw new Error("no key"); };' });
    plugin('broken', { 'openclaw.plugin.json': '{"id":' });
    plugin('lacks', { 'index.js': `import 'not-there'; ${hook}` });
    const failures: readonly (readonly [string, number, string])[] = [
      ['./nowhere', 2, 'there is no "./nowhere"'],
      ['./empty', 2, 'holds no openclaw.plugin.json'],
      [packed('empty'), 2, 'holds no plugin of OpenClaw'],
      [packed('throws'), 1, 'cannot be set up'],
      [packed('broken'), 1, 'it is not JSON'],
      [packed('lacks'), 1, 'not-there'],
      ['pkg-acme', 1, 'the registry cannot be reached'],
    ];
    for (const [wanted, code, words] of failures) {
      const ended = await sluice('add', wanted);
      expect({ wanted, code: ended.code, stderr: ended.stderr }).toEqual({
        ...{ wanted, code },
        stderr: expect.stringContaining(words),
      });
    }
    expect(existsSync(join(cwd, 'sluice-plugins'))).toBe(false);
    expect(existsSync(join(cwd, 'sluice.config.json'))).toBe(false);
  });

  it('adds a plugin that needs settings, and says so', async () => {
    const configSchema = {
      type: 'object',
      required: ['key'],
      properties: { key: { type: 'string' } },
    };
    plugin('acme', { 'openclaw.plugin.json': JSON.stringify({ id: 'acme', configSchema }) });
    const { code, stdout } = await sluice('add', './acme');
    expect(code).toBe(0);
    expect(stdout).toMatch(/It needs settings: .*key.* Write them as "config" beside "path"\./);
  });

  it('prints the line for a config that is a module, and does not remove what that names', async () => {
    plugin('src');
    write('.', { 'sluice.config.mjs': 'export default { plugins: [] }; // mine' });
    const { code, stdout } = await sluice('add', packed('src'));
    expect(code).toBe(0);
    expect(stdout).toContain('{ "path": "./sluice-plugins/acme/node_modules/pkg-acme" },');
    expect(text('sluice.config.mjs')).toBe('export default { plugins: [] }; // mine');
    expect((await sluice('list')).stdout).toContain('installed, not in the config');
    write('.', {
      'other.mjs':
        'export default { plugins: [{ path: "./sluice-plugins/acme/node_modules/pkg-acme" }] };',
    });
    const refused = await sluice('remove', 'acme', '-c', 'other.mjs');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is a module') });
    expect(existsSync(join(cwd, 'sluice-plugins/acme'))).toBe(true);
  });

  it('refuses a second plugin with the id of one in the config', async () => {
    plugin('one');
    plugin('two');
    await sluice('add', './one');
    expect(await sluice('add', packed('two'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('names a plugin "acme" already, of ./one'),
    });
    expect(existsSync(join(cwd, 'sluice-plugins'))).toBe(false);
  });

  it('leaves nothing after a Ctrl-C, and clears what a process that was killed left', async () => {
    write('sluice-plugins/.adding-999999999-x', { a: '' });
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const server = createServer(() => asked()); // it never answers
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    env = {
      ...env,
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    };
    const cli = new CliProcess(['plugin', 'add', 'pkg-slow'], { cwd, env });
    await isAsked;
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    server.closeAllConnections();
    server.close();
    expect(stderr).toContain('interrupted: SIGINT has stopped it: nothing was added.');
    expect(code).toBe(1);
    expect(existsSync(join(cwd, 'sluice-plugins'))).toBe(false);
  });
});

describe('sluice plugin add of a folder', () => {
  it('adds nothing if a Ctrl-C comes while its code is looked at', async () => {
    const waiting = `const alive = setInterval(() => undefined, 1_000);
      console.error('is looked at');
      await new Promise((go) => process.once('SIGINT', go));
      clearInterval(alive);`;
    plugin('src', { 'index.js': `${waiting}\n${hook}` });
    const cli = new CliProcess(['plugin', 'add', './src'], { cwd, env });
    await cli.until('is looked at');
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    expect(stderr).toContain('interrupted: SIGINT has stopped it: ./src was not added.');
    expect(code).not.toBe(0);
    expect(existsSync(join(cwd, 'sluice.config.json'))).toBe(false);
  });
});

describe('the folders of installed plugins', () => {
  it('are two for two ids that differ, whatever characters the ids have', async () => {
    for (const [folder, id] of [
      ['one', 'a/b'],
      ['two', 'a+b'],
    ] as const) {
      plugin(folder, { 'package.json': packageOf(`pkg-${folder}`) }, id);
      expect(await sluice('add', packed(folder))).toMatchObject({ code: 0 });
    }
    const list = jsonLines((await sluice('list', '--json')).stdout);
    expect(list.map((one) => Object(one).id).toSorted()).toEqual(['a+b', 'a/b']);
  });

  it('get back what a process that was killed had taken away for a new version', async () => {
    plugin('src');
    await sluice('add', packed('src'));
    const all = join(cwd, 'sluice-plugins');
    renameSync(join(all, 'acme'), join(all, '.old-999999999-acme'));
    plugin('other', { 'package.json': packageOf('pkg-other') }, 'other');
    await sluice('add', packed('other'));
    expect(readdirSync(all).toSorted()).toEqual(['acme', 'other']);
    write('sluice-plugins/.old-999999999-acme', { a: '' });
    await sluice('add', packed('other'));
    expect(readdirSync(all).toSorted()).toEqual(['acme', 'other']);
  });
});

describe('sluice plugin add with a config that cannot be written', () => {
  it('leaves nothing installed', async () => {
    plugin('src');
    const file = `${'c'.repeat(240)}.json`; // the name of a draft beside it is too long
    write('.', { [file]: '{}' });
    const ended = await sluice('add', packed('src'), '-c', file);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('unwritable-file') });
    expect(
      readdirSync(cwd)
        .filter((name) => name !== '.npm')
        .sort(),
    ).toEqual([file, 'src', 'src.tgz']);
  });
});

describe('a tarball for --plugin (event-pipeline §17.15)', () => {
  it('is installed once for its content, and runs', async () => {
    plugin('src', {
      'index.js': `export default (api) => { api.on('message_sending', ({ content }) => ({ content: content + '!' })); };`,
    });
    const tarball = packed('src');
    for (const _ of [1, 2]) {
      const { stdout } = await runCli(['run', '--quiet', '--plugin', tarball], 'hi\n', {
        cwd,
        env,
      });
      expect(stdout).toContain('hi!');
    }
    expect(readdirSync(join(cwd, 'sluice-plugins'))).toHaveLength(1);
    expect((await runInMemory(['check-plugin', tarball], '', { cwd, env })).code).toBe(0);
  });
});

describe('an installed plugin whose manifest is damaged', () => {
  it('is listed with its problem, and can be removed (event-pipeline §17.15)', async () => {
    plugin('acme');
    expect((await sluice('add', packed('acme'))).code).toBe(0);
    const { plugins } = JSON.parse(text('sluice.config.json'));
    const { path } = plugins[0];
    write(path, { 'openclaw.plugin.json': '{' });
    expect(await sluice('list')).toMatchObject({ code: 1, stdout: expect.stringContaining(path) });
    expect(await sluice('remove', path)).toMatchObject({ code: 0 });
    expect(JSON.parse(text('sluice.config.json')).plugins).toEqual([]);
    expect(existsSync(join(cwd, 'sluice-plugins'))).toBe(false);
  });

  it('leaves all folders but its own: those beside an installation, and the half of another', async () => {
    plugin('acme');
    expect((await sluice('add', packed('acme'))).code).toBe(0);
    const own = join('sluice-plugins', 'acme');
    cpSync(join(cwd, own), join(cwd, 'sluice-plugins', '.old-1-acme'), { recursive: true });
    expect(jsonLines((await sluice('list', '--json')).stdout)).toHaveLength(1);
    expect(await sluice('add', './acme')).toMatchObject({ code: 0 });
    write('acme', { 'openclaw.plugin.json': '{' });
    expect(await sluice('remove', './acme')).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, 'acme', 'index.js'))).toBe(true);
    expect(existsSync(join(cwd, own))).toBe(true);
    expect(JSON.parse(text('sluice.config.json')).plugins).toHaveLength(1);
  });
});
