import { Console } from 'node:console';
import process from 'node:process';
import { Writable } from 'node:stream';
import {
  badArguments,
  CommandError,
  checkNotStopped,
  type ExitCode,
  errorLine,
  exitCodes,
  jsonLine,
  type Output,
  type PluginSetting,
  type Shell,
} from '@sluice/cli';
import { lineLogger, type PipelineOptions, readSettings } from '@sluice/cli/internal';
import { Command, CommanderError } from 'commander';
import {
  createKernel,
  inertText,
  isSluiceError,
  nearest,
  oneLine,
  systemClock,
  withTimeout,
} from 'sluice-kernel/internal';
import type { LegacyGatewayAnswer, LegacyPlugin } from '../../index.js';
import { readPluginFolder } from '../../plugin/shape/plugin-folder.js';
import { pluginPath } from '../installed/installed-plugins.js';
import { loadPlugins } from '../installed/load-plugins.js';

/** Loads the plugins of a config, or one of them, or one that is elsewhere. Their services and channels do not start. */
async function openPlugins(options: PipelineOptions, shell: Shell, name?: string) {
  const settings = await readSettings(options, shell);
  const named = settings.plugins.filter((one) => name === undefined || isNamed(one, name));
  const given = async (): Promise<PluginSetting[]> => {
    if (name === undefined) return [];
    const path = await pluginPath(name, settings.config?.folder ?? shell.cwd, shell);
    return [{ path, from: shell.cwd }];
  };
  const plugins = named.length > 0 ? named : await given();
  const logger = lineLogger(
    shell.stderr,
    options.debug === true ? 'debug' : 'warn',
    shell.stdout.gone,
  );
  const loaded = await loadPlugins(createKernel(), { ...settings, plugins }, logger);
  const [error] = loaded.errors;
  if (name !== undefined && isSluiceError(error, 'plugin-not-found'))
    throw badArguments(`there is no plugin "${name}"`, 'See `sluice plugin list`.', {
      cause: error,
    });
  shell.stderr.lines(loaded.errors.map((one) => errorLine(one, options.debug === true)));
  return {
    ...loaded,
    [Symbol.asyncDispose]: async () => {
      for (const plugin of loaded.plugins) await plugin.dispose();
    },
  };
}

function isNamed({ path, from }: PluginSetting, name: string): boolean {
  if (path === name) return true;
  try {
    return readPluginFolder(path, from).manifest.id === name;
  } catch (thrown) {
    if (isSluiceError(thrown)) return false; // the one that is asked for may be another
    throw thrown;
  }
}

/** Runs a command line that a plugin brings. All that it prints goes to stdout and stderr. */
export async function runPluginCommand(
  name: string,
  args: readonly string[],
  options: PipelineOptions,
  shell: Shell,
): Promise<ExitCode> {
  await using opened = await openPlugins(options, shell, name);
  const [plugin] = opened.plugins;
  if (plugin === undefined) return exitCodes.failed;
  if (plugin.cliCommands.length === 0)
    throw badArguments(
      `plugin "${plugin.pluginId}" brings no command line`,
      'Chat commands are given in a chat. See `sluice plugin check`.',
    );
  const before = { console: globalThis.console, exitCode: process.exitCode };
  globalThis.console = new Console({
    stdout: streamTo(shell.stdout),
    stderr: streamTo(shell.stderr),
  });
  try {
    const program = await programOf(plugin, shell);
    const stop = shell.takeStop();
    const stopped = new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve(), { once: true });
      if (stop.aborted) resolve();
    });
    await Promise.race([program.parseAsync(args, { from: 'user' }), stopped]);
    checkNotStopped(shell, 'its command line has not ended');
    return Number(process.exitCode ?? 0) === 0 ? exitCodes.ok : exitCodes.failed;
  } catch (thrown) {
    if (thrown instanceof CommanderError)
      return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage; // commander has said why
    if (isSluiceError(thrown) || thrown instanceof CommandError) throw thrown;
    throw new CommandError(
      'bad-plugin',
      `${plugin.pluginId}: ${oneLine(thrown)}`,
      'Its command line threw that; look at what you gave it.',
      {
        cause: thrown,
        exitCode: exitCodes.failed,
      },
    );
  } finally {
    globalThis.console = before.console;
    process.exitCode = before.exitCode;
  }
}

/** The program with the commands of a plugin. Its help and its errors go where the shell has them. */
async function programOf(
  { pluginId, cliCommands, config, logger }: LegacyPlugin,
  { cwd, stdout, stderr, width }: Shell,
): Promise<Command> {
  const program = new Command(`sluice plugin run ${pluginId}`)
    .exitOverride()
    .configureHelp({ helpWidth: width })
    .configureOutput({
      writeOut: (text) => stdout.lines([text.trimEnd()]),
      writeErr: (text) => stderr.lines([text.trimEnd()]),
    });
  const say =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string): void =>
      logger[level](message);
  const legacyLogger = {
    ...{ debug: say('debug'), info: say('info') },
    ...{ warn: say('warn'), error: say('error') },
  };
  for (const { names, register } of cliCommands) {
    const taken = program.commands.map((command) => command.name());
    if (names.some((one) => taken.includes(one))) continue; // the first one has it, as in OpenClaw
    await register({ program, config, workspaceDir: cwd, logger: legacyLogger });
  }
  return program;
}

function streamTo(output: Output): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text, _, done) => void output.write(String(text)).then(() => done(), done),
  });
}

/** Calls a gateway method that a plugin of the config brings, and prints its answer as JSON. */
export async function callPluginMethod(
  method: string,
  options: PipelineOptions & { readonly params?: string; readonly timeout?: string },
  shell: Shell,
): Promise<ExitCode> {
  const params = paramsOf(options.params ?? '{}');
  const seconds = Number(options.timeout ?? 30);
  if (!(seconds > 0 && seconds <= 86_400))
    throw badArguments(`--timeout is "${options.timeout}"`, 'Give seconds, such as --timeout 30.');
  await using opened = await openPlugins(options, shell);
  const methods = opened.plugins.flatMap((plugin) => plugin.gatewayMethods);
  const found = methods.find((one) => one.method === method);
  if (found === undefined) {
    const known = methods.map((one) => one.method);
    const close = nearest(method, known);
    throw badArguments(
      `no plugin of the config brings the method "${method}"`,
      close === undefined
        ? `Methods: ${known.join(', ') || 'none'}. Name a further plugin by --plugin.`
        : `Did you mean "${close}"?`,
    );
  }
  const failed = (what: string, cause?: unknown): CommandError =>
    new CommandError('bad-plugin', `method "${method}" ${what}`, 'See the log of the plugin.', {
      cause,
      exitCode: exitCodes.failed,
    });
  let answer: LegacyGatewayAnswer | undefined;
  try {
    answer = await withTimeout(found.call(params), seconds * 1_000, systemClock, () => undefined);
  } catch (thrown) {
    if (isSluiceError(thrown)) throw thrown;
    throw failed(`threw: ${oneLine(thrown)}`, thrown);
  }
  if (answer === undefined) throw failed(`has not responded within ${seconds} s`);
  const { ok, payload = null, error } = answer;
  const shown = ok || error === undefined ? payload : error;
  const whole = inertText(JSON.stringify(shown, null, 2) ?? 'null').split('\n');
  shell.stdout.lines(options.json === true ? [jsonLine(answer)] : whole);
  return ok ? exitCodes.ok : exitCodes.failed;
}

function paramsOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badArguments('--params is no object of JSON', `Write it so: --params '{"to": "x"}'.`);
  return value as Readonly<Record<string, unknown>>; // JSON: an object has texts for keys
}
