import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageCache } from './package-cache.js';

/** The folder of the cache into which packages of Debian are unpacked. */
export function debianFolder(name: string): string {
  return join(packageCache(), name);
}

/** The folder of the libraries of packages that were unpacked. */
export function librariesOf(folder: string): string {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  return join(folder, 'usr/lib', `${machine}-linux-gnu`);
}

/**
 * Downloads and unpacks packages of Debian, with the libraries that the programs of the first one load. Nothing is installed, no
 * service starts.
 */
export function unpackDebian(folder: string, names: readonly [string, ...string[]]): void {
  const staging = `${folder}-${process.pid}`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const run = (command: string, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: staging, encoding: 'utf8' });
    if (status === 0) return stdout;
    throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  };
  const only = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const closure = run('apt-cache', [
    ...['depends', '--recurse', ...only.map((kind) => `--no-${kind}`), names[0]],
  ]);
  const libraries = [...new Set(closure.match(/^lib\S+/gm))].filter(
    (library) => !/^lib(c6|gcc|perl|llvm|z3)/.test(library) && !library.includes(':'),
  );
  run('apt-get', ['download', ...names, ...libraries]);
  run('sh', ['-c', 'for one in *.deb; do dpkg -x "$one" . && rm "$one"; done']);
  rmSync(folder, { recursive: true, force: true });
  renameSync(staging, folder);
}
