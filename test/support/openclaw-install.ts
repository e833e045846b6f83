import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openClawVersion } from './openclaw-package.js';

/** Two of its dependencies cannot be installed as they are named: one is no registry package, one needs a newer Node. */
const manifest = {
  private: true,
  type: 'module',
  dependencies: { openclaw: openClawVersion },
  overrides: { libsignal: 'npm:libsignal@6.0.0', linkedom: '0.18.12' },
};
const leaveOut = ['--ignore-scripts', '--omit=optional', '--omit=peer', '--legacy-peer-deps'];
const quiet = ['--no-audit', '--no-fund', '--silent'];

/** The gateway needs Node 22, whatever the tests run on. */
const node22Version = '22.23.3';

/**
 * Installs the real package with its dependencies in a cache outside of the repository, once per machine.
 *
 * @returns the package's own folder. Rejects where it cannot be installed.
 */
export async function installOpenClaw(): Promise<string> {
  const folder = await installOnce(`openclaw-full-${openClawVersion}`, async (staging) => {
    await writeFile(join(staging, 'package.json'), JSON.stringify(manifest));
    await promisify(execFile)('npm', ['install', ...quiet, ...leaveOut], { cwd: staging });
  });
  return join(folder, 'node_modules', 'openclaw');
}

/**
 * Installs Node 22 in the same cache.
 *
 * @returns its program. Rejects where it cannot be installed.
 */
export async function installNode22(): Promise<string> {
  const folder = await installOnce(`node-${node22Version}`, async (staging) => {
    const plain = [...quiet, '--no-save', '--prefix', staging, `node@${node22Version}`];
    await promisify(execFile)('npm', ['install', ...plain], { cwd: staging });
  });
  return join(folder, 'node_modules', 'node', 'bin', 'node');
}

/** Beside its place first, so that what stands there is whole. */
async function installOnce(
  name: string,
  install: (staging: string) => Promise<void>,
): Promise<string> {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const cache = join(caches, 'sluice-ci');
  const folder = join(cache, name);
  if (isComplete(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, 'installing-'));
  try {
    await install(staging);
    if (!isComplete(staging)) throw new Error('npm has left it incomplete');
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return folder;
}

/** npm writes this file last. */
function isComplete(folder: string): boolean {
  return existsSync(join(folder, 'node_modules', '.package-lock.json'));
}
