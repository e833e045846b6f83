import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const name = '@anthropic-ai/claude-agent-sdk';
const version = '0.3.329';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder whose `node_modules` holds the SDK; empty where it could not be installed. */
    readonly sdkFolder: string;
  }
}

/** Installs the SDK in a cache outside of the repository, once, and tells the tests where it is. */
export default async function setup(project: TestProject): Promise<void> {
  const folder = join(cache(), `claude-agent-sdk-${version}`);
  try {
    if (!isComplete(folder)) await install(folder);
    project.provide('sdkFolder', folder);
  } catch (error) {
    const line = `${name}@${version} could not be installed: ${String(error).split('\n')[0]}`;
    if (process.env['CI'] === 'true') throw new Error(line, { cause: error }); // never skipped there
    console.warn(`test:claude skips: ${line}`);
    project.provide('sdkFolder', '');
  }
}

function cache(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice-ci');
}

/** npm writes its list of packages last; the program comes as the one package that fits this platform. */
function isComplete(folder: string): boolean {
  const list = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(list) || !existsSync(join(folder, 'node_modules', name, 'sdk.mjs'))) return false;
  const packages = readdirSync(join(folder, 'node_modules', dirname(name)));
  return packages.some((one) => one.startsWith(`${basename(name)}-${process.platform}-`));
}

/** Beside its place first, so that what stands there is whole. */
async function install(folder: string): Promise<void> {
  const staging = `${folder}.${process.pid}`;
  await mkdir(staging, { recursive: true });
  try {
    const plain = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts'];
    const whole = ['--include=optional', '--prefix', staging, `${name}@${version}`];
    await promisify(execFile)('npm', ['install', ...plain, ...whole], { cwd: staging });
    if (!isComplete(staging)) throw new Error('npm has left it incomplete');
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
