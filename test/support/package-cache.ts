import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { homeFolder } from '../../src/sdk/extension/internal.js';

/**
 * The folder that holds third-party packages between runs, outside of every repository. `XDG_CACHE_HOME` moves it: an
 * empty folder there shows what a fresh machine sees.
 */
export function packageCache(): string {
  return join(
    process.env['XDG_CACHE_HOME'] || join(homeFolder() ?? tmpdir(), '.cache'),
    'sluice-ci',
  );
}

/**
 * Installs packages into a folder of the cache, once per machine. The install happens beside the folder and is moved into
 * its place, so that a folder that stands there is whole.
 *
 * @param name the folder's name: it holds the version.
 * @param install puts `node_modules` into the folder that it is given.
 * @param isWhole an additional condition; npm's own list of packages must be there in any case.
 * @returns the folder.
 * @throws Error (as a rejection) with npm's own words if it cannot be installed.
 * @example
 * const folder = await installOnce(`node-${version}`, (staging) => npm(['install', `node@${version}`], staging));
 */
export async function installOnce(
  name: string,
  install: (staging: string) => Promise<unknown>,
  isWhole: (folder: string) => boolean = () => true,
): Promise<string> {
  const cache = packageCache();
  const folder = join(cache, name);
  const isComplete = (one: string): boolean =>
    existsSync(join(one, 'node_modules', '.package-lock.json')) && isWhole(one); // npm writes this file last
  if (isComplete(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(join(cache, 'installing-'));
  try {
    await install(staging);
    if (!isComplete(staging)) throw new Error(`npm has left ${name} incomplete`);
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return folder;
}

/**
 * Runs npm in a folder, with nothing of the settings that an `npm run` around it hands down: this project's
 * `engine-strict`, say, is a rule for its own dependencies and not for the programs that its tests run.
 *
 * @returns what npm wrote to stdout.
 * @throws Error (as a rejection) whose message is what npm itself said.
 */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const plain = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  try {
    const run = promisify(execFile)('npm', [...args, ...plain], { cwd, env: withoutNpmSettings() });
    return (await run).stdout;
  } catch (error) {
    throw new Error(`npm ${args.join(' ')} failed. ${npmSays(error)}`, { cause: error });
  }
}

/** The newest version of a package that npm has. Rejects with npm's own words if it does not say. */
export async function newestVersion(name: string): Promise<string> {
  return (await npm(['view', name, 'version'], tmpdir())).trim();
}

/** Settings of npm that may reach the nested one: places and the registry, which are the machine's and not the project's. */
const handedDown =
  /^npm_config_(cache|registry|userconfig|globalconfig|prefix|.*proxy|cafile|ca)$/i;

function withoutNpmSettings(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || handedDown.test(name),
  );
  return Object.fromEntries(entries);
}

/** npm's first lines: the code and the reason come first. */
function npmSays(error: unknown): string {
  const { stderr, message } = error as { stderr?: unknown; message?: unknown }; // what execFile rejects with
  const text = typeof stderr === 'string' && stderr.trim() !== '' ? stderr : String(message);
  return text
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '')
    .slice(0, 6)
    .join(' | ');
}
