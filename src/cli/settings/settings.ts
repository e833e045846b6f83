import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AgentDefinition, HealthServerOptions } from '../../host/index.js';
import type { HostConfig } from '../../host/internal.js';
import { definedFields } from '../../kernel/index.js';
import type { Shell } from '../shell/shell.js';
import { type AgentChoice, agentChoice } from './agent-choice.js';
import { findConfigFile, type LoadedConfig, readConfigFile } from './config-file.js';
import { type GatewaySetting, gatewaySetting } from './gateway-setting.js';

/** The options that every command on the pipeline takes. */
export interface PipelineOptions {
  readonly extension?: readonly string[];
  readonly plugin?: readonly string[];
  readonly strictPlugins?: boolean;
  /** A file, or `false` where none is to be looked for. */
  readonly config?: string | false;
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
  /** Nothing is started without it. */
  readonly required?: boolean;
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

/** An agent to offer: who it is, and how it is set up. */
export interface AgentSetting
  extends Pick<AgentDefinition, 'id' | 'systemPrompt' | 'timeoutMs' | 'maxRunning'> {
  readonly choice: AgentChoice;
}

/** What a command runs with: the config file, and over it the command line. */
export interface Settings
  extends Pick<
    HostConfig,
    | 'openclaw'
    | 'overrides'
    | 'leastPrivilege'
    | 'quarantine'
    | 'handlerWatch'
    | 'strict'
    | 'grants'
    | 'budgets'
    | 'lanes'
    | 'session'
    | 'failureText'
    | 'logging'
  > {
  /** The config file that was read, if any. */
  readonly config?: LoadedConfig;
  /** The first is the default, unless `defaultAgent` says otherwise. */
  readonly agents: readonly AgentSetting[];
  readonly defaultAgent?: string;
  /** The channels to start: `console`, and what extensions provide. All of them where unsaid. */
  readonly channels?: readonly string[];
  readonly extensions: readonly ExtensionSetting[];
  readonly plugins: readonly PluginSetting[];
  /** Settings of extensions that the command line gives, by specifier: they go over those of the config file. */
  readonly givenConfig: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Where the agents `openclaw` are. */
  readonly gateway: GatewaySetting;
  /** The journal, with its path resolved; none where unsaid. */
  readonly journal?: NonNullable<HostConfig['journal']>;
  /** The port that a monitor asks; none where unsaid. */
  readonly health?: HealthServerOptions;
  /** The texts that must be in no log and in no journal. */
  readonly secrets: readonly string[];
  /** The folder that the command was given in. */
  readonly workspaceDir: string;
}

/** Adds the options that every command on the pipeline takes. */
export function addPipelineOptions(command: Command): Command {
  return command
    .option('-e, --extension <path>', 'load this extension; may be given again', collect)
    .option('-p, --plugin <path>', 'load this OpenClaw plugin; may be given again', collect)
    .option(
      '--strict-plugins',
      'refuse a plugin that asks for what is not here, instead of skipping it',
    )
    .option(
      '-c, --config <file>',
      'the config file (default: sluice.config.ts, .mts, .js, .mjs or .json here)',
    )
    .option('--no-config', 'read no config file')
    .option('--debug', 'stack traces of errors, and every log line');
}

/**
 * Reads what a command is to run with. Of the config file and the command line, the command line wins; extensions
 * add up, the file's first.
 *
 * @throws CommandError where an option, the file or something in it is wrong.
 */
export async function readSettings(
  options: PipelineOptions & {
    readonly agent?: string;
    readonly channel?: string;
    readonly url?: string;
    readonly strict?: boolean;
    readonly journal?: string;
  },
  { cwd, env, keepSecrets }: Pick<Shell, 'cwd' | 'env' | 'keepSecrets'>,
): Promise<Settings> {
  const file = options.config ?? findConfigFile(cwd);
  const config =
    file === undefined || file === false ? undefined : await readConfigFile(file, { cwd, env });
  const gateway = gatewaySetting(options.url, config, env);
  const { token = '', password = '' } = gateway;
  const secrets = [...(config?.secrets ?? []), token, password].filter((text) => text !== '');
  keepSecrets(secrets);
  const channels = options.channel === undefined ? config?.channels : [options.channel];
  return {
    ...definedFields({ config, channels }),
    gateway,
    secrets,
    givenConfig: {},
    ...(config?.health !== undefined && { health: config.health }),
    ...journalSetting(options.journal, config, cwd),
    agents: agentSettings(options.agent, config, cwd),
    ...(config?.defaultAgent !== undefined && { defaultAgent: config.defaultAgent }),
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
    ].map((plugin) =>
      options.strictPlugins === true ? { ...plugin, unsupported: 'refuse' as const } : plugin,
    ),
    openclaw: config?.openclaw ?? {},
    workspaceDir: cwd,
    grants: config?.grants ?? {},
    leastPrivilege: config?.leastPrivilege ?? false,
    quarantine: config?.quarantine ?? {},
    handlerWatch: config?.handlerWatch ?? {},
    strict: options.strict === true || config?.strict === true,
    overrides: config?.overrides ?? {},
    budgets: config?.budgets ?? {},
    lanes: config?.lanes ?? {},
    session: config?.session ?? {},
    failureText: config?.failureText ?? {},
    logging: config?.logging ?? {},
  };
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** The command line names another file; what the config says of the journal holds for it, too. */
function journalSetting(
  given: string | undefined,
  config: LoadedConfig | undefined,
  cwd: string,
): Pick<Settings, 'journal'> {
  if (given !== undefined) return { journal: { ...config?.journal, path: resolve(cwd, given) } };
  if (config?.journal === undefined) return {};
  return { journal: { ...config.journal, path: resolve(config.folder, config.journal.path) } };
}

/** One agent, `main`, where the file lists none. The command line says who answers for the default one. */
function agentSettings(
  given: string | undefined,
  config: LoadedConfig | undefined,
  cwd: string,
): AgentSetting[] {
  const folder = config?.folder ?? cwd;
  const listed = (config?.agents ?? []).map(({ provider, ...agent }) => ({
    ...agent,
    choice: agentChoice(provider, folder),
  }));
  const agents =
    listed.length > 0
      ? listed
      : [{ id: 'main', choice: agentChoice(config?.agent ?? 'echo', folder) }];
  if (given === undefined) return agents;
  const choice = agentChoice(given, cwd);
  const isDefault = (id: string, at: number): boolean =>
    config?.defaultAgent === undefined ? at === 0 : id === config.defaultAgent;
  return agents.map((agent, at) => (isDefault(agent.id, at) ? { ...agent, choice } : agent));
}

/** A file's path may be written without the leading `./` that sets it apart from a package name. */
function located(path: string, from: string): ExtensionSetting {
  const file = resolve(from, path);
  return { specifier: existsSync(file) ? file : path, from };
}
