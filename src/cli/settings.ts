import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { KernelOptions } from '../kernel/index.js';
import { type AgentChoice, agentChoice } from './agent-choice.js';
import { type LoadedConfig, readConfigFile } from './config.js';

/** The options that every command on the pipeline takes. */
export interface PipelineOptions {
  readonly extension?: readonly string[];
  readonly plugin?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** An extension to load: where it is, and what it is configured with. */
export interface ExtensionSetting {
  /** A path or a package name. */
  readonly specifier: string;
  /** The folder that it is read from. */
  readonly from: string;
  readonly config?: unknown;
}

/** An OpenClaw plugin to load: where it is, and what it is loaded with. */
export interface PluginSetting {
  readonly path: string;
  /** The folder that it is read from. */
  readonly from: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly trusted?: boolean;
  readonly unsupported?: 'refuse' | 'skip';
}

/** What a command runs with: the config file, and over it the command line. */
export interface Settings extends Required<Pick<KernelOptions, 'grants' | 'overrides'>> {
  readonly agent: AgentChoice;
  /** Where messages come from besides the channels of the config: `console`, or one that an extension provides. */
  readonly channel: string;
  readonly extensions: readonly ExtensionSetting[];
  readonly plugins: readonly PluginSetting[];
  /** The OpenClaw configuration that plugins are shown. */
  readonly openclaw: Readonly<Record<string, unknown>>;
  /** The folder that the command was given in. */
  readonly workspaceDir: string;
}

/** Adds the options that every command on the pipeline takes. */
export function addPipelineOptions(command: Command): Command {
  return command
    .option('-e, --extension <path>', 'load this extension; may be given again', collect)
    .option('-p, --plugin <path>', 'load this OpenClaw plugin; may be given again', collect)
    .option('-c, --config <file>', 'a JSON file: extensions, plugins, grants, overrides, agent')
    .option('--debug', 'stack traces of errors, and every log line');
}

/**
 * Reads what a command is to run with. Of the config file and the command line, the command line wins; extensions
 * add up, the file's first.
 *
 * @throws CommandError where an option, the file or something in it is wrong.
 */
export async function readSettings(
  options: PipelineOptions & { readonly agent?: string; readonly channel?: string },
  cwd: string,
): Promise<Settings> {
  const config =
    options.config === undefined ? undefined : await readConfigFile(options.config, cwd);
  return {
    agent: chooseAgent(options.agent, config, cwd),
    channel: options.channel ?? config?.channel ?? 'console',
    extensions: [
      ...(config?.extensions ?? []).map(({ path, ...rest }) => ({
        ...rest,
        ...located(path, config?.folder ?? cwd),
      })),
      ...(options.extension ?? []).map((path) => located(path, cwd)),
    ],
    plugins: [
      ...(config?.plugins ?? []).map((plugin) => ({ ...plugin, from: config?.folder ?? cwd })),
      ...(options.plugin ?? []).map((path) => ({ path, from: cwd })),
    ],
    openclaw: config?.openclaw ?? {},
    workspaceDir: cwd,
    grants: config?.grants ?? {},
    overrides: config?.overrides ?? {},
  };
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function chooseAgent(
  given: string | undefined,
  config: LoadedConfig | undefined,
  cwd: string,
): AgentChoice {
  if (given !== undefined) return agentChoice(given, cwd);
  return agentChoice(config?.agent ?? 'echo', config?.folder ?? cwd);
}

/** A file's path may be written without the leading `./` that sets it apart from a package name. */
function located(path: string, from: string): ExtensionSetting {
  const file = resolve(from, path);
  return { specifier: existsSync(file) ? file : path, from };
}
