import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openClawVersion } from '../support/openclaw-package.js';

/** Two of its dependencies cannot be installed as they are named: one is no registry package, one needs a newer Node. */
const manifest = {
  private: true,
  type: 'module',
  dependencies: { openclaw: openClawVersion },
  overrides: { libsignal: 'npm:libsignal@6.0.0', linkedom: '0.18.12' },
};
const leaveOut = ['--ignore-scripts', '--omit=optional', '--omit=peer', '--legacy-peer-deps'];

/** The package with its dependencies, or why it is not there. */
export type OpenClawInstall =
  | { readonly chunk: string; readonly absent?: undefined }
  | { readonly chunk?: undefined; readonly absent: string };

/**
 * Installs the real package in a cache outside of the repository, once per machine, and finds the file that holds its
 * session subscription. Beside its place first, so that what stands there is whole.
 */
export async function installOpenClaw(): Promise<OpenClawInstall> {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const cache = join(caches, 'sluice-ci');
  const folder = join(cache, `openclaw-full-${openClawVersion}`);
  try {
    if (!isComplete(folder)) await install(cache, folder);
    return { chunk: subscriptionChunk(distOf(folder)) };
  } catch (error) {
    const line = String(error).split('\n', 1)[0];
    return { absent: `openclaw@${openClawVersion} cannot be installed: ${line}` };
  }
}

async function install(cache: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, 'installing-'));
  try {
    await writeFile(join(staging, 'package.json'), JSON.stringify(manifest));
    const quiet = ['--no-audit', '--no-fund', '--silent'];
    await promisify(execFile)('npm', ['install', ...quiet, ...leaveOut], { cwd: staging });
    if (!isComplete(staging)) throw new Error('npm has left it incomplete');
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** npm writes this file last. */
function isComplete(folder: string): boolean {
  return (
    existsSync(join(folder, 'node_modules', '.package-lock.json')) && existsSync(distOf(folder))
  );
}

function distOf(folder: string): string {
  return join(folder, 'node_modules', 'openclaw', 'dist');
}

/** The file's name holds a hash: it is found by what it declares. */
function subscriptionChunk(dist: string): string {
  for (const name of readdirSync(dist).toSorted()) {
    if (!/^reply-.*\.js$/.test(name)) continue;
    const path = join(dist, name);
    if (/^function subscribeEmbeddedPiSession\(/m.test(readFileSync(path, 'utf8'))) return path;
  }
  throw new Error('no file of the package declares subscribeEmbeddedPiSession');
}
