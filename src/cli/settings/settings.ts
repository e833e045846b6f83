import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentDefinition } from '@sluice/host';
import { configSchema, type HostConfig } from '@sluice/host/internal';
import { type Command, Option } from 'commander';
import { definedFields } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import type {
  Addition,
  GatewaySetting,
  PluginLoader,
  PluginSetting,
  PluginSettings,
  Shell,
} from '../shell/shell.js';
import { type AgentChoice, agentChoice } from './agent-choice.js';
import { findConfigFile, type LoadedConfig, readConfigFile } from './config-file.js';
import { gatewayAuth, gatewaySetting, withGatewayAuth } from './gateway-setting.js';
import { type JournalPlace, placeOf } from './journal-place.js';

/** The options that every command on the pipeline takes. */
export interface PipelineOptions extends LegacyOptions {
  readonly extension?: readonly string[];
  /** Settings of extensions: `ID.key=value` each. */
  readonly set?: readonly string[];
  readonly plugin?: readonly string[];
  readonly strictPlugins?: boolean;
  /** A config file; `false` reads none. */
  readonly config?: string | false;
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** An extension to load, with its place and its configuration. */
export interface ExtensionSetting extends Omit<HostConfig['extensions'][number], 'path'> {
  /** A path or a package name. */
  readonly specifier: string;
  /** The folder to read it from. */
  readonly from: string;
}

/** An agent to offer, with its choice of a provider. */
export interface AgentSetting
  extends Pick<AgentDefinition, 'id' | 'systemPrompt' | 'timeoutMs' | 'maxRunning'> {
  readonly choice: AgentChoice;
}

/** The settings of a command: those of the config file, and over them the command line. Without a file its defaults hold. */
export interface Settings
  extends PluginSettings,
    Omit<
      HostConfig,
      '$schema' | 'agent' | 'agents' | 'extensions' | keyof PluginSettings | 'gateway'
    > {
  /** The config file that was read, if any. */
  readonly config?: LoadedConfig;
  /** The first is the default, unless `defaultAgent` names another. */
  readonly agents: readonly AgentSetting[];
  readonly extensions: readonly ExtensionSetting[];
  /** Loads the plugins, if there are any. */
  readonly pluginLoader?: PluginLoader;
  /** Settings of extensions that the command line gives, by specifier: they win over those of the config file. */
  readonly givenConfig: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Settings of extensions by their ids, as `--set` gives them: they win over all others. */
  readonly setConfig: readonly SetConfig[];
  /** The gateway of the agents `openclaw`. */
  readonly gateway: GatewaySetting;
  /** The texts that no log and no journal may hold. */
  readonly secrets: readonly string[];
  /** The place of the journal; absent without one. */
  readonly place?: JournalPlace;
}

/** Adds the options that every command on the pipeline takes. */
export function addPipelineOptions(command: Command): Command {
  return command
    .option('-e, --extension <path>', 'load this extension; may be given again', collect)
    .option(
      '--set <id.key=value>',
      'a setting of an extension, JSON or text; may be given again',
      collect,
    )
    .option('-p, --plugin <path>', 'load this OpenClaw plugin; may be given again', collect)
    .option(
      '--strict-plugins',
      'refuse a plugin that asks for what is not here, instead of skipping it',
    )
    .option('--openclaw <path>', 'the installed openclaw whose code plugins import')
    .addOption(profileOption())
    .option(
      '-c, --config <file>',
      'the config file (default: sluice.config.ts, .mts, .js, .mjs or .json here)',
    )
    .option('--no-config', 'read no config file')
    .option('--debug', 'stack traces of errors, and every log line');
}

/** The options of a command that win over the config file. */
export interface SettingsOptions extends PipelineOptions {
  readonly agent?: string;
  readonly channel?: string;
  readonly url?: string;
  readonly strict?: boolean;
  readonly audit?: readonly string[];
  readonly journal?: string;
}

/**
 * Reads the settings of a command. The command line wins over the config file; extensions add up, those of the file first.
 *
 * @throws CommandError if an option, the file or a setting in it is wrong.
 */
export async function readSettings(
  options: SettingsOptions,
  shell: Pick<Shell, 'cwd' | 'env' | 'stop' | 'keepSecrets' | 'additions' | 'journals'>,
): Promise<Settings> {
  const { cwd, env, stop, keepSecrets, additions, journals } = shell;
  const file = options.config ?? findConfigFile(cwd);
  const config =
    file === undefined || file === false
      ? undefined
      : await readConfigFile(file, { cwd, env, journals });
  const gateway = gatewaySetting(options.url, config, env);
  const { token = '', password = '' } = gateway;
  const ofGateway = [token, password, ...Object.values(gatewayAuth(env))];
  const secrets = [...(config?.secrets ?? []), ...ofGateway].filter((text) => text !== '');
  keepSecrets(secrets);
  const written: HostConfig = config ?? configSchema.parse({});
  const folder = config?.folder ?? cwd;
  const named = [
    ...written.plugins.map((plugin) => [folder, plugin] as const),
    ...(options.plugin ?? []).map((path) => [cwd, { path }] as const),
  ];
  let loader: PluginLoader | undefined;
  const plugins: PluginSetting[] = [];
  for (const [from, plugin] of named) {
    loader ??= await pluginLoader(additions);
    const path = await loader.pluginPath(plugin.path, folder, { cwd: from, env, stop });
    const strict = options.strictPlugins === true ? { unsupported: 'refuse' as const } : {};
    plugins.push({ ...plugin, ...strict, path, from });
  }
  const { journal } = journalSetting(options.journal, config, cwd);
  const place = journal && placeOf(journal, cwd, journals);
  return {
    ...written,
    ...definedFields({ config }),
    ...(options.channel !== undefined && { channels: [options.channel] }),
    openclaw: withGatewayAuth(written.openclaw, env),
    gateway,
    secrets,
    givenConfig: {},
    setConfig: (options.set ?? []).map(setConfigOf),
    ...definedFields({ journal, place }),
    ...(config?.stateDir !== undefined && { stateDir: resolve(config.folder, config.stateDir) }),
    ...agentSettings(options.agent, written, folder, cwd, additions),
    extensions: [
      ...written.extensions.map(({ path, ...rest }) => ({ ...rest, ...located(path, folder) })),
      ...(options.extension ?? []).map((path) => located(path, cwd)),
    ],
    plugins,
    ...definedFields({ pluginLoader: loader }),
    ...legacySetting(options, config, cwd),
    workspaceDir: cwd,
    strict: options.strict === true || written.strict,
    audit: [...new Set([...written.audit, ...(options.audit ?? [])])],
  };
}

async function pluginLoader(additions: readonly Addition[]): Promise<PluginLoader> {
  const load = additions.find(({ plugins }) => plugins !== undefined)?.plugins;
  if (load !== undefined) return load();
  throw badArguments('plugins are named, and nothing here loads them', 'Leave them out.');
}

/** Collects the values of an option that may be given again. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** The options about OpenClaw, for all plugins of a command. */
export interface LegacyOptions {
  /** The folder of an installed openclaw, whose code plugins import. */
  readonly openclaw?: string;
  readonly legacyProfile?: (typeof releases)[number];
}

const releases = ['2026.3', '2026.9'] as const;

/** `--legacy-profile`: the release whose hooks plugins get. */
export function profileOption(): Option {
  const what = 'the release whose hooks plugins get; by default the one each was built for';
  return new Option('--legacy-profile <release>', what).choices(releases);
}

/** The installed openclaw whose code plugins import, as a full path, and the release: those of the command line, or of the config file. */
export function legacySetting(
  { openclaw: given, legacyProfile }: LegacyOptions,
  config: LoadedConfig | undefined,
  cwd: string,
): { readonly legacy: NonNullable<Settings['legacy']> } {
  const { legacy: { openclaw: written, profile = undefined } = {}, folder = cwd } = config ?? {};
  const openclaw = given === undefined ? written && resolve(folder, written) : resolve(cwd, given);
  return { legacy: definedFields({ openclaw, profile: legacyProfile ?? profile }) };
}

/** The command line may name another file; the other settings of the journal hold for it, too. */
function journalSetting(
  given: string | undefined,
  config: LoadedConfig | undefined,
  cwd: string,
): Pick<Settings, 'journal'> {
  const { url, leaseMs, partitions, listen, ...settings } = config?.journal ?? {};
  if (given !== undefined) return { journal: { ...settings, path: resolve(cwd, given) } };
  if (config?.journal?.path === undefined) return definedFields({ journal: config?.journal });
  return { journal: { ...settings, path: resolve(config.folder, config.journal.path) } };
}

/**
 * Without a list there is one agent, `main`. The command line chooses the provider of the default agent; if an extension provides
 * that one, the first of the list becomes the default.
 */
function agentSettings(
  given: string | undefined,
  { agent = 'echo', agents = [{ id: 'main', provider: agent }], defaultAgent }: HostConfig,
  folder: string,
  cwd: string,
  additions: readonly Addition[],
): Pick<Settings, 'agents' | 'defaultAgent'> {
  const listed = agents.map(({ provider, ...rest }) => ({
    ...rest,
    choice: agentChoice(provider, folder, additions),
  }));
  if (given === undefined) return { agents: listed, ...definedFields({ defaultAgent }) };
  const choice = agentChoice(given, cwd, additions);
  const chosen = listed.find(({ id }) => id === defaultAgent) ?? listed[0];
  return {
    agents: listed.map((one) => (one === chosen ? { ...one, choice } : one)),
    ...definedFields({ defaultAgent: chosen?.id }),
  };
}

/** A file's path may be written without the leading `./` that sets it apart from a package name. */
function located(path: string, from: string): ExtensionSetting {
  const file = resolve(from, path);
  return { specifier: existsSync(file) ? file : path, from };
}

/** One `--set`: the id of an extension with the path of a setting, and its value. */
export interface SetConfig {
  /** `quiet-hours.days.from`: the id may have dots itself, so it is split when the id is known. */
  readonly path: string;
  readonly value: unknown;
}

/**
 * Reads a `--set`. A value that is JSON is that; any other is a text.
 *
 * @throws CommandError `bad-arguments`.
 */
function setConfigOf(text: string): SetConfig {
  const [, path, written = ''] = /^([^=]+\.[^=.]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined || /(^|\.)(__proto__|\.|$)/.test(path))
    throw badArguments(
      `--set is "${text}"`,
      'Write the id of the extension, the setting and its value: --set quiet-hours.from=22:00.',
    );
  try {
    return { path, value: JSON.parse(written) };
  } catch {
    return { path, value: written };
  }
}
