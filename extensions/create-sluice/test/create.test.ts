import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { create } from '../src/create.js';
import { sluiceSource } from '../src/package-files.js';

const clone = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'create-sluice-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** Runs the program in the folder of the test. */
function run(...args: string[]) {
  const said = { out: '', error: '' };
  const code = create(args, {
    cwd,
    out: (text) => (said.out += text),
    error: (text) => (said.error += text),
  });
  return { code, ...said };
}

/** The folder of this program as npm installs it from somewhere. */
function installed(resolved: string | undefined): string {
  const packages = { 'node_modules/create-sluice': { resolved, integrity: 'sha512-abc' } };
  const root = join(cwd, 'npx/node_modules/create-sluice');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '../.package-lock.json'), JSON.stringify({ packages }));
  return root;
}

const textsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(join(cwd, folder).length + 1), readFileSync(path, 'utf8')]),
  );

describe('npm create sluice', () => {
  it.each([
    ['extension', '', 'startTestHost'],
    ['channel', ' --channel tea-time', 'channelConformance'],
    ['agent', ' --agent tea-time', 'agentConformance'],
  ])('makes a package of an %s, with a test of its kind', (kind, option, kit) => {
    const { code, out, error } = run(kind, 'tea-time');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toContain('cd tea-time && npm install && npm test');
    expect(out).toContain('licence');
    const files = textsIn('tea-time');
    expect(Object.keys(files).sort()).toEqual([
      '.gitignore',
      'README.md',
      'package.json',
      'src/index.ts',
      'test/index.test.ts',
      'tsconfig.build.json',
      'tsconfig.json',
    ]);
    expect(files['test/index.test.ts']).toContain(kit);
    expect(files['README.md']).toMatch(/^# sluice-tea-time\n/);
    expect(files['README.md']).toContain('Choose a licence');
    expect(Object.values(files).join()).not.toContain('my-name');
    const made = JSON.parse(files['package.json'] ?? '');
    expect(made).toMatchObject({
      name: 'sluice-tea-time',
      files: ['dist'],
      engines: { node: '>=20.19' },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
      peerDependencies: { sluice: '~0.2.0' },
      devDependencies: { sluice: `file:${clone}` }, // it runs in a clone
      scripts: { start: `sluice run --extension ./src/index.ts${option}` },
    });
    expect(made).not.toHaveProperty('license'); // the author's to choose
    expect(made.dependencies ?? {}).not.toHaveProperty('sluice');
  });

  it.each([
    ['pigeon', 'pigeon', 'sluice-pigeon'],
    ['sluice-pigeon', 'sluice-pigeon', 'sluice-pigeon'],
    ['@acme/pigeon', 'pigeon', '@acme/pigeon'],
  ])('takes the name %s: the folder is %s, and the package %s', (name, folder, packageName) => {
    expect(run('channel', name).code).toBe(0);
    const files = textsIn(folder);
    expect(JSON.parse(files['package.json'] ?? '').name).toBe(packageName);
    expect(files['README.md']).toMatch(new RegExp(`^# ${packageName}\n`));
    expect(files['src/index.ts']).toContain("id: 'pigeon'");
  });

  it('takes Sluice from where it is told to', () => {
    run('agent', 'parrot', '--sluice', 'file:../sluice.tgz');
    const { devDependencies, peerDependencies } = JSON.parse(
      textsIn('parrot')['package.json'] ?? '',
    );
    expect(devDependencies.sluice).toBe('file:../sluice.tgz');
    expect(peerDependencies.sluice).toBe('~0.2.0');
  });

  it.each([
    ['the tarball beside its own', 'file:../packed/create-sluice.tgz', 'packed/sluice.tgz'],
    ['one with a version', 'file:../pack ed/create-sluice-0.1.0.tgz', 'pack ed/sluice-0.1.0.tgz'],
  ])('takes Sluice from where it came from itself: %s', (_, resolved, expected) => {
    const root = installed(resolved);
    expect(sluiceSource(root)).toBeUndefined(); // there is none beside it
    mkdirSync(join(cwd, expected, '..'), { recursive: true });
    writeFileSync(join(cwd, expected), '');
    expect(sluiceSource(root)).toBe(`file:${join(cwd, expected)}`);
  });

  it.each([
    ['of the registry', 'https://registry.example/create-sluice/-/create-sluice-0.1.0.tgz'],
    ['without an address', undefined],
  ])('takes Sluice from the registry if npm notes a package %s', (_, resolved) => {
    expect(sluiceSource(installed(resolved))).toBeUndefined();
    expect(sluiceSource(join(cwd, 'global/node_modules/create-sluice'))).toBeUndefined();
  });

  it.each([
    [[], 'a kind and a name are needed. Usage: npm create sluice extension|channel|agent NAME'],
    [['agent'], 'a kind and a name are needed. Usage: '],
    [['agent', 'a', 'b'], 'a kind and a name are needed. Usage: '],
    [['plugin', 'tea'], '"plugin" is no kind of package. Write extension, channel or agent.'],
    [['toString', 'tea'], '"toString" is no kind of package.'],
    [['agent', 'Tea Time'], '"Tea Time" is no name of a package. Write lower-case letters'],
    [['agent', '../tea'], '"../tea" is no name of a package.'],
    [['agent', 'sluice'], '"sluice" is no name of a package.'],
    [['agent', 'sluice-'], '"sluice-" is no name of a package.'],
    [['agent', 'tea', '--force'], "Unknown option '--force'"],
  ])('refuses %j in one line, and writes nothing', (args, text) => {
    const { code, out, error } = run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(`create-sluice: bad-arguments: ${text}`);
    expect(error).toMatch(/^[^\n]+\n$/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('leaves a folder alone that holds something, and takes one that is empty', () => {
    mkdirSync(join(cwd, 'tea'));
    writeFileSync(join(cwd, 'tea', 'notes'), 'mine');
    writeFileSync(join(cwd, 'cup'), 'a file');
    mkdirSync(join(cwd, 'pot'));
    for (const name of ['tea', 'cup'])
      expect(run('agent', name)).toMatchObject({
        code: 2,
        error: `create-sluice: file-exists: ${name} is there already. Nothing was written. Choose another name, or move it away.\n`,
      });
    expect(readdirSync(join(cwd, 'tea'))).toEqual(['notes']);
    expect(run('agent', 'pot').code).toBe(0);
  });

  it('says so if a file cannot be written', () => {
    writeFileSync(join(cwd, 'file'), '');
    cwd = join(cwd, 'file');
    const { code, error } = run('agent', 'tea');
    cwd = join(cwd, '..');
    expect(code).toBe(1);
    expect(error).toMatch(
      /^create-sluice: unwritable-file: ".+" cannot be written: ENOTDIR\. Check/,
    );
  });

  it('prints its help and its version', () => {
    expect(run('--help')).toMatchObject({ code: 0, error: '' });
    expect(run('-h').out).toContain('npx sluice init');
    expect(run('--version')).toEqual({ code: 0, out: '0.2.0\n', error: '' });
  });
});
