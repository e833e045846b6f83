import { spawn } from 'node:child_process';
import { platform } from 'node:process';
import { CommandError, exitCodes, type Shell } from '@sluice/cli';
import { isDetached } from '@sluice/sdk/extension/internal';
import { onAbort } from 'sluice-kernel/internal';

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
export async function npmInstall(
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
  if (stop.aborted)
    throw failed(`the installation of ${wanted} was stopped`, 'Nothing was added. Run it again.');
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
