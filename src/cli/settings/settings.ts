import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentDefinition } from '@sluice/host';
import type { HostConfig } from '@sluice/host/internal';
import { homeFolder } from '@sluice/sdk/extension/internal';
import { definedFields, type Fields, fieldsOf } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import type {
  GatewaySetting,
  PluginLoader,
  PluginSetting,
  PluginSettings,
  Shell,
} from '../shell/shell.js';
import { type AgentChoice, agentChoice } from './agent-choice.js';
import { checkedConfig, findConfigFile, type LoadedConfig, readConfigFile } from './config-file.js';
import type { PipelineOptions } from './flags.js';
import { type JournalPlace, placeOf } from './journal-place.js';

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

/** One `--set`: the id of an extension with the path of a setting, and its value. */
export interface SetConfig {
  /** `quiet-hours.days.from`: the id may have dots itself, so it is split when the id is known. */
  readonly path: string;
  readonly value: unknown;
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

type SettingsShell = Pick<Shell, 'cwd' | 'env' | 'stop' | 'keepSecrets' | 'additions' | 'journals'>;

/**
 * Reads the settings of a command. The command line wins over the config file; extensions add up, those of the file first.
 *
 * @throws CommandError if an option, the file or a setting in it is wrong.
 */
export async function readSettings(
  given: PipelineOptions,
  shell: SettingsShell,
): Promise<Settings> {
  const { cwd, env, keepSecrets, journals, additions } = shell;
  const file = given.config ?? findConfigFile(cwd);
  const config = file ? await readConfigFile(file, shell, given) : undefined;
  const written: HostConfig = config ?? checkedConfig('the command line', {}, shell, given);
  const folder = config?.folder ?? cwd;
  const gateway = gatewaySetting(written.gateway, env);
  const { token = '', password = '' } = gateway;
  const ofGateway = [token, password, ...Object.values(gatewayAuth(env))];
  const secrets = [...(config?.secrets ?? []), ...ofGateway].filter((text) => text !== '');
  keepSecrets(secrets);
  const place = written.journal && placeOf(written.journal, cwd, journals);
  const agents = agentSettings(given['agent'], written, { folder, cwd, additions });
  const { extensions = [], plugins = [] }: Partial<HostConfig> = Object(config?.written);
  const settings = {
    ...written,
    ...agents,
    ...definedFields({ config, place }),
    ...{ gateway, secrets, givenConfig: {}, workspaceDir: cwd },
    openclaw: withGatewayAuth(written.openclaw, env),
    setConfig: [given['set'] ?? []].flat().map((one) => setConfigOf(String(one))),
    extensions: written.extensions.map(({ path, ...rest }, at) => ({
      ...rest,
      ...located(path, at < extensions.length ? folder : cwd),
    })),
    plugins: written.plugins.map((plugin, at) => ({
      ...plugin,
      ...(given['strictPlugins'] === true && { unsupported: 'refuse' as const }),
      from: at < plugins.length ? folder : cwd,
    })),
  };
  return { ...settings, ...(await foundPlugins(settings.plugins, folder, shell)) };
}

/**
 * Without a list there is one agent, `main`. The command line chooses the provider of the default agent; if an extension provides
 * that one, the first of the list becomes the default.
 */
function agentSettings(
  given: unknown,
  { agent = 'echo', agents = [{ id: 'main', provider: agent }], defaultAgent }: HostConfig,
  { folder, cwd, additions }: Pick<Shell, 'cwd' | 'additions'> & { readonly folder: string },
): Pick<Settings, 'agents' | 'defaultAgent'> {
  const listed = agents.map(({ provider, ...rest }) => ({
    ...rest,
    choice: agentChoice(provider, folder, additions),
  }));
  if (given === undefined) return { agents: listed, ...definedFields({ defaultAgent }) };
  const choice = agentChoice(String(given), cwd, additions);
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

/** Finds the folders of plugins. @param folder the folder beside which plugins are installed. */
async function foundPlugins(
  named: readonly PluginSetting[],
  folder: string,
  { additions, env, stop }: SettingsShell,
): Promise<Pick<Settings, 'plugins' | 'pluginLoader'>> {
  if (named.length === 0) return { plugins: [] };
  const load = additions.find((one) => one.plugins !== undefined)?.plugins;
  if (load === undefined)
    throw badArguments('plugins are named, and nothing here loads them', 'Leave them out.');
  const loader = await load();
  const plugins: PluginSetting[] = [];
  for (const plugin of named) {
    const path = await loader.pluginPath(plugin.path, folder, { cwd: plugin.from, env, stop });
    plugins.push({ ...plugin, path });
  }
  return { plugins, pluginLoader: loader };
}

/** The usual address of a gateway. */
const usualUrl = 'ws://127.0.0.1:18789';

/**
 * Reads the address of the gateway, and its token and password, from the config file or else from `OPENCLAW_GATEWAY_TOKEN` and
 * `OPENCLAW_GATEWAY_PASSWORD` of the environment.
 */
export function gatewaySetting(
  gateway: HostConfig['gateway'] = {},
  env: Shell['env'],
): GatewaySetting {
  const given = gatewayAuth(env);
  const home = homeFolder(env);
  const usualDevice = home && join(home, '.sluice', 'openclaw-device.pem');
  const { url = usualUrl, device = usualDevice } = gateway;
  const { token = given['token'], password = given['password'] } = gateway;
  return {
    url,
    ...definedFields({ device, token: token || undefined, password: password || undefined }),
  };
}

/** The token and the password of a gateway that the environment has. */
function gatewayAuth(env: Shell['env']): Readonly<Record<string, string>> {
  const { OPENCLAW_GATEWAY_TOKEN: token, OPENCLAW_GATEWAY_PASSWORD: password } = env;
  return definedFields({ token: token || undefined, password: password || undefined });
}

/** An OpenClaw configuration: what its `gateway.auth` lacks comes from the environment, as OpenClaw's gateway reads it. */
export function withGatewayAuth(openclaw: Fields, env: Shell['env']): Fields {
  const given = gatewayAuth(env);
  if (Object.keys(given).length === 0) return openclaw;
  const gateway = fieldsOf(openclaw['gateway']);
  return { ...openclaw, gateway: { ...gateway, auth: { ...given, ...fieldsOf(gateway['auth']) } } };
}
