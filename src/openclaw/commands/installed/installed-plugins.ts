import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { kill, pid, platform } from 'node:process';
import { CommandError, exitCodes, interrupted, type Shell } from '@sluice/cli';
import { isDetached } from '@sluice/sdk/extension/internal';
import { isSluiceError, onAbort } from 'sluice-kernel/internal';
import { manifestName } from '../../plugin/shape/manifest.js';
import { type PluginFolder, readPluginFolder } from '../../plugin/shape/plugin-folder.js';

/** The folder beside a config in which `sluice plugin add` installs, each plugin in a folder of its own. */
const pluginsFolder = 'sluice-plugins';

/** A plugin that was installed beside a config. */
interface InstalledPlugin extends PluginFolder {
  /** The folder that is its own, with its `node_modules`: to remove it removes the plugin. */
  readonly own: string;
}

/** The plugins that are installed beside a config, but for those that cannot be read: the config's entry says why. */
export function installedPlugins(beside: string): readonly InstalledPlugin[] {
  const all = join(beside, pluginsFolder);
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .flatMap((name) => {
      const own = join(all, name);
      try {
        const found = pluginIn(own);
        return found === undefined ? [] : [{ ...found, own }];
      } catch {
        return []; // one that is damaged keeps nobody from the others
      }
    });
}

/** The own folder of an installation that a path lies in, whatever is there. */
export function ownFolderOf(path: string, beside: string): string | undefined {
  const all = join(beside, pluginsFolder);
  const inside = relative(all, resolve(beside, path));
  const [name = ''] = inside.split(sep);
  const own = join(all, name);
  return isAbsolute(inside) || ['', '..'].includes(name) || !existsSync(own) ? undefined : own;
}

/** Reads the folder of a plugin that people name. @throws CommandError `missing-file`; SluiceError of the manifest. */
export function namedFolder(path: string, cwd: string): PluginFolder {
  try {
    return readPluginFolder(path, cwd);
  } catch (thrown) {
    if (!isSluiceError(thrown, 'plugin-not-found')) throw thrown;
    throw new CommandError('missing-file', thrown.message, thrown.hint, { cause: thrown });
  }
}

/** Returns whether a text names a tarball that is there. */
export function isTarball(text: string, cwd: string): boolean {
  const path = resolve(cwd, text);
  return /\.(tgz|tar\.gz)$/.test(path) && existsSync(path);
}

/** Returns whether a text is a name that npm takes, with or without a version. */
export function isPackageName(text: string): boolean {
  return /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:@[^\s/@]+)?$/.test(text) && !isAbsolute(text);
}

/**
 * Installs a package in a folder of its own, and puts that in its place if it holds a plugin and `judge` takes it. Until then, and
 * after a failure or a Ctrl-C, what was installed before stays.
 *
 * @param wanted a name with or without a version, or the path of a tarball.
 * @param judge may refuse the plugin by a throw, before it is in its place. @returns the name of its folder, as any text.
 * @throws CommandError (as a rejection) `install-failed` or `no-plugin`; SluiceError of the manifest.
 */
export async function installPlugin(
  wanted: string,
  beside: string,
  shell: Pick<Shell, 'cwd' | 'env' | 'stop'>,
  judge: (found: PluginFolder) => Promise<string> | string,
): Promise<InstalledPlugin> {
  const all = join(beside, pluginsFolder);
  mkdirSync(all, { recursive: true });
  clearLeftovers(all);
  const staging = mkdtempSync(join(all, `.adding-${pid}-`));
  try {
    const given = isTarball(wanted, shell.cwd) ? resolve(shell.cwd, wanted) : wanted;
    await npmInstall(given, staging, shell);
    const found = pluginIn(staging);
    if (found === undefined)
      throw new CommandError(
        'missing-file',
        `${wanted} holds no plugin of OpenClaw: it has no openclaw.plugin.json`,
        'Nothing was added. Check the name; an extension of Sluice is named in "extensions".',
      );
    const name = folderName(await judge(found));
    const own = join(all, name);
    const old = join(all, `.old-${pid}-${name}`);
    if (existsSync(own)) renameSync(own, old);
    try {
      renameSync(staging, own);
    } catch (thrown) {
      if (existsSync(old)) renameSync(old, own);
      throw thrown;
    }
    rmSync(old, { recursive: true, force: true });
    return { ...(pluginIn(own) ?? found), own };
  } finally {
    removeInstalled(staging);
  }
}

/** Removes the own folder of an installed plugin, and the folder of all plugins if it was the last. */
export function removeInstalled(own: string): void {
  rmSync(own, { recursive: true, force: true });
  if (readdirSync(dirname(own)).length === 0) rmSync(dirname(own), { recursive: true });
}

/**
 * The path of a plugin as people name it: a tarball is installed first, once for its content; the id of an installed plugin is its
 * folder. Any other text is taken as it is.
 */
export async function pluginPath(
  given: string,
  beside: string,
  shell: Pick<Shell, 'cwd' | 'env' | 'stop'>,
): Promise<string> {
  if (isTarball(given, shell.cwd)) {
    const bytes = readFileSync(resolve(shell.cwd, given));
    const name = `tarball-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
    const known = pluginIn(join(beside, pluginsFolder, name));
    return (known ?? (await installPlugin(given, beside, shell, () => name))).folder;
  }
  if (existsSync(resolve(shell.cwd, given))) return given;
  const named = installedPlugins(beside).find(
    ({ manifest, folder }) => manifest.id === given || folder.endsWith(`/node_modules/${given}`),
  );
  return named?.folder ?? given;
}

/** A folder's name, of the id that a manifest has: it may be any text, and each has another name. */
function folderName(id: string): string {
  return id.replace(/[^\w.-]|^\./gu, (other) => `+${other.codePointAt(0)?.toString(16)}+`);
}

/** The plugin that npm has installed in a folder; nothing if the package is none. */
function pluginIn(folder: string): PluginFolder | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, unknown>>;
  }; // npm has written it
  const [name = ''] = Object.keys(dependencies);
  const path = join(folder, 'node_modules', name);
  return existsSync(join(path, manifestName)) ? readPluginFolder(path, folder) : undefined;
}

/** Removes the half of an installation whose process has died, and puts back a plugin that it was to replace. */
function clearLeftovers(all: string): void {
  for (const name of readdirSync(all)) {
    const [, kind, owner, replaced = ''] = /^\.(adding|old)-(\d+)-(.*)$/.exec(name) ?? [];
    const left = join(all, name);
    if (owner === undefined || isAlive(Number(owner)) || !statSync(left).isDirectory()) continue;
    if (kind === 'old' && !existsSync(join(all, replaced))) renameSync(left, join(all, replaced));
    else rmSync(left, { recursive: true, force: true });
  }
}

function isAlive(process: number): boolean {
  try {
    return kill(process, 0);
  } catch (thrown) {
    return Object(thrown).code === 'EPERM';
  }
}

/** Without scripts: nothing of a package runs before it was looked at. Without what only a build or OpenClaw itself needs. */
const options = [
  ...['--ignore-scripts', '--omit=optional', '--omit=peer', '--omit=dev', '--legacy-peer-deps'],
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
];

/** The codes of npm and of Node that say that the registry cannot be reached. */
const offline =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED)\b/;

/**
 * Has npm install a package with what it depends on. No script of a package runs.
 *
 * @param wanted a name with or without a version, or the full path of a tarball.
 * @param folder an empty folder: it gets a `package.json` and a `node_modules`.
 * @throws CommandError (as a rejection) `install-failed`, with npm's reason. A Ctrl-C ends npm, too.
 */
async function npmInstall(
  wanted: string,
  folder: string,
  { env, stop }: Pick<Shell, 'env' | 'stop'>,
): Promise<void> {
  const args = ['install', ...options, '--prefix', folder, '--', wanted];
  const npm = spawn('npm', args, {
    cwd: folder,
    env,
    detached: isDetached, // a Ctrl-C ends it by `stop`
    shell: platform === 'win32', // npm is a script there
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 100_000);
  });
  using _stopped = onAbort(stop, () => void npm.kill('SIGTERM'));
  const code = await new Promise<number | string | null>((resolve) => {
    npm.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    npm.once('close', resolve);
  });
  if (stop.aborted) throw interrupted(stop, 'nothing was added');
  if (code === 0) return;
  if (code === 'ENOENT') throw failed('there is no npm', 'Install npm, or name a folder instead.');
  throw reasonOf(wanted, said);
}

function reasonOf(wanted: string, said: string): CommandError {
  if (/\bE404\b/.test(said))
    return failed(
      `npm finds no package "${wanted}"`,
      'Check the name. A folder is named with its path, such as ./my-plugin.',
    );
  if (/\bETARGET\b/.test(said))
    return failed(`npm finds no such version of "${wanted}"`, 'See `npm view NAME versions`.');
  if (offline.test(said))
    return failed(
      `the registry cannot be reached, to install ${wanted}: ${offline.exec(said)?.[0]}`,
      'Check the connection and `npm config get registry`, or name a folder or a tarball (`npm pack NAME`).',
    );
  const lines = said
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log'));
  return failed(
    `npm could not install ${wanted}: ${lines.slice(0, 4).join(' | ')}`,
    'Nothing was added. Fix the reason, and run it again.',
  );
}

function failed(what: string, hint: string): CommandError {
  return new CommandError('install-failed', what, hint, { exitCode: exitCodes.failed });
}
