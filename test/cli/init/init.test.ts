import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { installable, packageSource } from '../../../src/cli/installed/package-source.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runCli } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** Makes the packages that a new host depends on importable in a folder, as `npm install` would. */
function install(folder: string): void {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'sluice'));
  for (const name of ['vitest', 'typescript', '@types', 'zod'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}

describe('where npm finds the Sluice of a new host', () => {
  const noted = (resolved?: string, integrity?: string): string => {
    using folder = temporaryFolder({
      'node_modules/.package-lock.json': JSON.stringify({
        packages: { 'node_modules/sluice': { version: '0.1.0', resolved, integrity } },
      }),
    });
    const source = packageSource(join(folder.path, 'node_modules/sluice'), '0.1.0');
    return source.replaceAll(folder.path, '/srv/bot');
  };

  it.each([
    ['https://registry.example/sluice/-/sluice-0.1.0.tgz', '^0.1.0'],
    ['https://files.example/builds/sluice.tgz', 'https://files.example/builds/sluice.tgz'],
    [
      'git+ssh://git@git.example/sluice.git#0123abc',
      'git+ssh://git@git.example/sluice.git#0123abc',
    ],
    ['file:packed/sluice-0.1.0.tgz', 'file:/srv/bot/packed/sluice-0.1.0.tgz'],
    [undefined, 'file:/srv/bot/node_modules/sluice'],
  ])('P1: is where it was installed from itself: %s', (resolved, expected) => {
    expect(noted(resolved)).toBe(expected);
  });

  it('P1: is the registry if npm was told to note no address of it', () => {
    expect(noted(undefined, 'sha512-abc')).toBe('^0.1.0');
  });

  it('P1: is named in the advice to install another package: beside a tarball, in a clone, or by its name', () => {
    using folder = temporaryFolder({
      'packed/sluice-http.tgz': '',
      'pack ed/sluice-http-0.1.0.tgz': '',
      'clone/extensions/http/package.json': '{}',
    });
    const adviceBeside = (resolved: string | undefined): string => {
      folder.write(
        'host/node_modules/.package-lock.json',
        JSON.stringify({
          packages: { 'node_modules/sluice': { resolved, integrity: 'sha512-abc' } },
        }),
      );
      const copy = { folder: join(folder.path, 'host/node_modules/sluice'), version: '0.1.0' };
      return installable('sluice-http', copy).replace(folder.path, '');
    };
    expect(adviceBeside('file:../packed/sluice.tgz')).toBe('/packed/sluice-http.tgz');
    expect(adviceBeside('file:../pack ed/sluice-0.1.0.tgz')).toBe(
      '"/pack ed/sluice-http-0.1.0.tgz"',
    );
    expect(adviceBeside('file:../elsewhere/sluice.tgz')).toBe('sluice-http');
    expect(adviceBeside('https://registry.example/sluice/-/sluice-0.1.0.tgz')).toBe('sluice-http');
    expect(adviceBeside(undefined)).toBe('sluice-http');
    const clone = { folder: join(folder.path, 'clone'), version: '0.1.0' };
    expect(installable('sluice-http', clone)).toBe(join(folder.path, 'clone/extensions/http'));
    expect(installable('sluice-pigeon', clone)).toBe('sluice-pigeon');
  });

  it('P1: is the folder of a clone', async () => {
    expect(packageSource('/srv/sluice', '0.1.0')).toBe('file:/srv/sluice');
    using folder = temporaryFolder();
    await runInMemory(['init', 'my-host'], '', { cwd: folder.path });
    const made = readFileSync(join(folder.path, 'my-host/package.json'), 'utf8');
    expect(JSON.parse(made).dependencies.sluice).toBe(`file:${root.replace(/\/$/, '')}`);
  });
});

describe('sluice init', () => {
  it('writes a host whose config is read, whose extension loads, and whose test passes', async () => {
    using folder = temporaryFolder();
    const made = await runInMemory(['init', 'my-host'], '', { cwd: folder.path });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('Next: cd my-host && npm install && npm test');
    const spaced = await runInMemory(['init', 'my other host'], '', { cwd: folder.path });
    expect(spaced.stdout).toContain('Next: cd "my other host" && npm install');
    const cwd = join(folder.path, 'my-host');
    install(cwd);
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const { stdout } = await run(process.execPath, [vitest, 'run'], {
      cwd,
      env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/Tests\s+\S*\s*2 passed/);
    const doctor = await runCli(['doctor'], '', { cwd });
    expect(doctor).toMatchObject({ code: 0, stderr: '' });
    expect(await runCli(['run', '--quiet'], 'hello\n', { cwd })).toEqual({
      code: 0,
      stdout: 'hello\n-- sent by Sluice\n',
      stderr: '',
    });
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    await run(process.execPath, [tsc, '--noEmit', '--checkers', '1'], { cwd });
  });

  it('writes over nothing', async () => {
    using folder = temporaryFolder({ 'sluice.config.ts': 'mine', 'package.json': '{}' });
    const refused = await runInMemory(['init'], '', { cwd: folder.path });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      'sluice: file-exists: sluice.config.ts is there already. Nothing was written. Choose another folder, or give --force to replace them.\n',
    );
    expect(readdirSync(folder.path).sort()).toEqual(['package.json', 'sluice.config.ts']);
    expect(readFileSync(join(folder.path, 'sluice.config.ts'), 'utf8')).toBe('mine');
  });

  it('writes over files with --force, but never over a package.json', async () => {
    using folder = temporaryFolder({ 'sluice.config.ts': 'mine', 'package.json': '{}' });
    const forced = await runInMemory(['init', '--force', '--json'], '', { cwd: folder.path });
    expect(forced.code).toBe(0);
    expect(forced.stdout).toContain('{"file":"package.json","written":false}');
    expect(readFileSync(join(folder.path, 'sluice.config.ts'), 'utf8')).toContain('defineConfig');
    expect(readFileSync(join(folder.path, 'package.json'), 'utf8')).toBe('{}');
  });

  it('makes no second config beside another form of it', async () => {
    using folder = temporaryFolder({ 'sluice.config.json': '{}' });
    const refused = await runInMemory(['init', '--force'], '', { cwd: folder.path });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('sluice.config.json is there already');
    expect(existsSync(join(folder.path, 'sluice.config.ts'))).toBe(false);
  });

  it('says so where a folder cannot be written', async () => {
    using folder = temporaryFolder({ taken: 'a file' });
    const failed = await runInMemory(['init', 'taken'], '', { cwd: folder.path });
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('unwritable-file');
  });

  it.each([
    ['Mein Ordner', 'mein-ordner'],
    ['sluice', 'my-sluice-host'],
    ['___', 'my-sluice-host'],
  ])('names the package after the folder "%s": %s', async (name, expected) => {
    using folder = temporaryFolder();
    await runInMemory(['init', name], '', { cwd: folder.path });
    const manifest = JSON.parse(readFileSync(join(folder.path, name, 'package.json'), 'utf8'));
    expect(manifest.name).toBe(expected);
  });
});
