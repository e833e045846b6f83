import { existsSync, realpathSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { text as textOf } from 'node:stream/consumers';
import {
  CommandError,
  type ExitCode,
  exitCodes,
  jsonLine,
  printable,
  type Shell,
  secretName,
} from '@sluice/cli';
import { type LoadedConfig, lineLogger, ownCommand, trapEffects } from '@sluice/cli/internal';
import { withoutSecrets } from '@sluice/journal/internal';
import { thisCopy } from '@sluice/sdk/extension/internal';
import { Option } from 'commander';
import { createKernel, isSluiceError, type Kernel, SluiceError } from 'sluice-kernel';
import { type LegacyPlugin, loadLegacyPluginFrom } from '../../index.js';
import { sourceFiles } from './plugin-mentions.js';

/** A plugin that nobody has told to trust, and how it is loaded: plain data. */
interface ClosedPlugin {
  readonly folder: string;
  readonly load: Omit<Parameters<typeof loadLegacyPluginFrom>[1], 'kernel' | 'logger'>;
  readonly config: LoadedConfig | undefined;
}

/**
 * Has a command of this program load a plugin in a process of its own (spec §17.16): with no environment but a home, which is
 * the plugin's folder, and no secret of the config, without network, other processes and file writes, and with no file to
 * read but the plugin's and this program's.
 *
 * @throws SluiceError as of `loadLegacyPluginFrom`; CommandError `bad-plugin` if the process ended without an answer.
 */
export async function inClosedProcess<Answer>(
  command: readonly string[],
  { folder, load, config }: ClosedPlugin,
  shell: Shell,
): Promise<Answer> {
  const hide = (key: string, value: unknown): unknown =>
    typeof value === 'string' && secretName.test(key) ? '[secret]' : value;
  const input = withoutSecrets(config?.secrets ?? [])(JSON.stringify(load, hide));
  const program = join(thisCopy.folder, 'dist/cli/main.js');
  const execArgv = closing([folder, load.openclaw ?? []].flat());
  const hear = (text: string): void => shell.stderr.lines([printable(text.trimEnd())]);
  const { lines, cause } = await ownCommand(
    [...command, '--closed'],
    { cwd: shell.cwd, env: { HOME: folder }, stop: shell.stop }, // OpenClaw looks there when it is imported
    input,
    { program, execArgv, hear },
  ).then(
    (report) => ({ ...report, cause: undefined }),
    (error: unknown) => ({ lines: [], cause: error }),
  );
  const { answer, thrown } = Object(lines.at(-1)) as { answer?: Answer; thrown?: Thrown }; // the same program has written it
  if (thrown !== undefined) {
    const row = { message: '{message}', cause: '', hint: '{hint}' };
    const { code, message, hint, ...details } = thrown;
    throw Object.assign(new SluiceError(code, row, { message, hint }), { details });
  }
  if (answer !== undefined) return answer;
  throw new CommandError(
    'bad-plugin',
    `${printable(String(command[1]))} could not be described: its process ended before it was loaded`,
    'Its module or its register function ended the process, or took too long, or you stopped it. --debug shows what it wrote.',
    { cause, exitCode: exitCodes.failed },
  );
}

/** Tells a command that it runs in the closed process. No help names it. */
export function closedOption(): Option {
  return new Option('--closed').hideHelp();
}

type Thrown = Pick<SluiceError, 'code' | 'message' | 'hint'>;

/** The flags of Node that close a process. A runtime that has none of them is left with what `trapEffects` refuses. */
function closing(folders: readonly string[]): readonly string[] {
  const flag = ['--permission', '--experimental-permission'].find((one) =>
    process.allowedNodeEnvironmentFlags.has(one),
  );
  if (flag === undefined) return [];
  const known = folders.filter((folder) => existsSync(folder));
  const given = known.flatMap((folder) => [folder, realpathSync(folder)]);
  const packages = [thisCopy.folder, realpathSync(thisCopy.folder), ...given].flatMap(above);
  const kernel = createRequire(import.meta.url).resolve('sluice-kernel/package.json');
  const all = [
    ...[thisCopy.folder, dirname(kernel)].flatMap((folder) =>
      ['dist/', 'package.json'].map((part) => join(folder, part)),
    ),
    ...given.map((one) => join(one, '/')),
    ...packages.map((one) => join(one, 'node_modules/')),
  ];
  const there = [...new Set(all)].filter((one) => existsSync(one));
  // if one is inside another, Node 20 loses the outer one
  const readable = there.filter(
    (one) => !there.some((other) => other !== one && one.startsWith(other)),
  );
  const isCompiled = known.some((one) => sourceFiles(one).some((file) => /ts$/.test(file)));
  return [
    ...['--no-warnings', flag, '--allow-worker'], // the hooks of imports work in a thread
    ...(isCompiled ? ['--allow-child-process'] : []), // the compiler is a program
    ...readable.map((one) => `--allow-fs-read=${one}`),
  ];
}

function above(folder: string): readonly string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...above(dirname(folder))];
}

/** Loads the plugin in the closed process, and prints what a function says of it. */
export async function answerClosed(
  path: string,
  isDebug: boolean,
  shell: Shell,
  describe: (plugin: LegacyPlugin, kernel: Kernel) => unknown,
): Promise<ExitCode> {
  const load: ClosedPlugin['load'] = JSON.parse(await textOf(shell.stdin)); // as `inClosedProcess` writes it
  const kernel = createKernel(); // nothing is dispatched on it
  const importModule = (url: string): Promise<unknown> => {
    trapEffects([['other threads', Module, /^register/]]); // hooks of imports would run in a thread that is not closed
    return import(url);
  };
  let line: object;
  try {
    const logger = lineLogger(shell.stderr, isDebug ? 'debug' : 'error', shell.stdout.gone);
    await using plugin = await loadLegacyPluginFrom(path, {
      ...load,
      kernel,
      logger,
      importModule,
    });
    line = { answer: describe(plugin, kernel) };
  } catch (thrown) {
    if (!isSluiceError(thrown)) throw thrown;
    const { code, message, hint, details } = thrown;
    line = { thrown: { ...details, code, message, hint } };
  }
  shell.stdout.lines([jsonLine(line)]);
  return exitCodes.ok;
}
