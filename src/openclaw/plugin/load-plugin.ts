import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { fromJsonSchema } from '@sluice/sdk/extension';
import { homeFolder, readConfig } from '@sluice/sdk/extension/internal';
import {
  definedFields,
  isSluiceError,
  isThenable,
  oneLine,
  type SluiceError,
} from 'sluice-kernel/internal';
import { legacyError } from '../errors.js';
import { offerOf } from '../host/legacy-offer.js';
import { registerChannel } from './api/register-channel.js';
import { registerInternal } from './api/register-internal.js';
import { registerOn } from './api/register-on.js';
import {
  registerCli,
  registerGatewayMethod,
  registerHttpHandler,
  registerHttpRoute,
} from './api/register-outside.js';
import { registerCommand, registerService } from './api/register-rest.js';
import { registerTool } from './api/register-tool.js';
import type { Registering } from './api/registering.js';
import { laterStandInsOf, standInsOf } from './api/unsupported.js';
import { withRoutes } from './http/plugin-routes.js';
import { type NewPlugin, newPlugin } from './new-plugin.js';
import { nextTurnInjections } from './runtime/next-prompt.js';
import { runtimeOf } from './runtime/runtime.js';
import { withStandIns } from './runtime/with-stand-ins.js';
import type { PluginSdk } from './sdk/find-openclaw.js';
import { type PluginExport, pluginExportOf } from './shape/module-shape.js';
import type { LegacyPlugin, LegacyPluginOptions, PluginTarget } from './shape/plugin.js';
import type { LegacySkill } from './shape/shapes.js';

/**
 * Loads an unmodified OpenClaw plugin: judges its configuration, and calls its register function with an `api` whose
 * hooks go on the kernel's stages. A plugin that cannot be set up has the status `error`; what it had registered before
 * stays, as it does in OpenClaw, and its dispose takes it back.
 *
 * @param module what importing the plugin gives: its default export counts, if it has one.
 * @throws SluiceError `bad-option` where nothing says what its id is. What is wrong with the plugin is in the result.
 * @example
 * const plugin = loadLegacyPlugin(await import('./thread-ownership/index.js'), {
 *   kernel, pluginId: 'thread-ownership', config: openclawConfig, pluginConfig: { forwarderUrl },
 * });
 * if (plugin.error !== undefined) console.error(plugin.error.message);
 * const host = createHost({ kernel, plugins: [plugin], agents, channels });
 */
export function loadLegacyPlugin(module: unknown, options: LegacyPluginOptions): LegacyPlugin {
  return loadWith(module, options, { warnings: [] });
}

/** The facts of a plugin that was loaded from a folder. */
interface PluginFound {
  readonly warnings: readonly string[];
  readonly folder?: string;
  readonly sdk?: PluginSdk;
  readonly target?: PluginTarget;
}

/** The same, with what was found out about the plugin before its module was imported. */
export function loadWith(
  module: unknown,
  options: LegacyPluginOptions,
  { warnings, folder, ...found }: PluginFound,
): LegacyPlugin {
  const exported = pluginExportOf(module);
  const plugin = newPlugin(exported.definition, options, folder, found.sdk?.path);
  for (const warning of warnings) plugin.report('warn', warning);
  const named = options.manifest?.skills ?? [];
  if (folder === undefined && named.length > 0)
    plugin.refusals.note('openclaw.plugin.json: skills');
  const skills =
    folder === undefined
      ? []
      : skillsIn(folder, named, (problem) => plugin.report('warn', problem));
  const error = setUp(plugin, exported, options);
  if (error !== undefined) {
    const { code, hint } = error;
    plugin.logger.error(`it is not set up (${code})`, { code, hint, error });
  }
  const { running, scope } = plugin;
  const dispose: LegacyPlugin['dispose'] = async () => {
    await running.stop();
    plugin.httpRoutes.length = 0;
    return scope.dispose();
  };
  const loaded: LegacyPlugin = {
    ...plugin.shown,
    skills,
    status: error === undefined ? 'loaded' : 'error',
    ...definedFields({ error, ...found }),
    provide: (host) => offerOf(loaded, host),
    start: () => withRoutes(plugin.httpRoutes, running.start),
    stop: running.stop,
    dispose,
    [Symbol.asyncDispose]: async () => void (await dispose()),
  };
  return loaded;
}

/** @returns why it could not be set up. */
function setUp(
  plugin: NewPlugin,
  { register, definition, problem }: PluginExport,
  { manifest }: LegacyPluginOptions,
): SluiceError | undefined {
  const { pluginId: extensionId, source } = plugin;
  for (const named of [manifest?.id, definition.id])
    if (named !== undefined && named !== extensionId)
      return legacyError('plugin-id-mismatch', { extensionId, source, exported: named });
  try {
    if (manifest !== undefined)
      readConfig(extensionId, fromJsonSchema(manifest.configSchema), plugin.pluginConfig);
    if (register === undefined) return legacyError('no-plugin', { extensionId, source, problem });
  } catch (refused) {
    if (isSluiceError(refused)) return refused;
    throw refused;
  }
  try {
    const returned = withRoutes(plugin.httpRoutes, () => register(apiOf(plugin)));
    if (isThenable(returned)) {
      plugin.report('warn', 'its register function is async; nobody waits for it, as in OpenClaw');
      returned.then(undefined, (late: unknown) =>
        plugin.report('error', 'its register function was rejected', late),
      );
    }
    return undefined;
  } catch (thrown) {
    if (isSluiceError(thrown, 'plugin-unsupported') || isSluiceError(thrown, 'plugin-needs-sdk'))
      return thrown;
    const details = { extensionId, problem: oneLine(thrown) };
    return legacyError('plugin-failed', details, { cause: thrown });
  }
}

/**
 * Finds the skills that a manifest names: each entry is a folder of a skill, or a folder of such folders.
 *
 * @param warn is told of an entry without a skill, and of one outside of the plugin's folder, which is left out.
 */
function skillsIn(
  folder: string,
  entries: readonly string[],
  warn: (problem: string) => void,
): readonly LegacySkill[] {
  return entries.flatMap((entry) => {
    const path = resolve(folder, entry);
    if (!existsSync(path) || !realpathSync(path).startsWith(realpathSync(folder) + sep)) {
      warn(`skills "${entry}" is left out: there is no such folder in the plugin`);
      return [];
    }
    const inside = readdirSync(path).map((name) => join(path, name));
    const found = [path, ...inside].filter((one) => existsSync(join(one, 'SKILL.md')));
    if (found.length === 0) warn(`skills "${entry}" is left out: it holds no SKILL.md`);
    return found.map((one) => ({ name: basename(one), path: one }));
  });
}

/** The `api` that a plugin's register function is called with. Its methods may be taken out of it. */
function apiOf(plugin: Registering): object {
  const { pluginId: id, name, version, description, source, config, pluginConfig } = plugin;
  const bound =
    <Args extends readonly unknown[], Result>(
      run: (plugin: Registering, ...args: Args) => Result,
    ) =>
    (...args: Args): Result =>
      run(plugin, ...args);
  const runtime = runtimeOf(plugin);
  const registrations = {
    on: bound(registerOn),
    registerHook: bound(registerInternal),
    registerService: bound(registerService),
    registerCommand: bound(registerCommand),
    registerChannel: bound(registerChannel),
    registerTool: bound(registerTool),
    registerCli: bound(registerCli),
    registerGatewayMethod: bound(registerGatewayMethod),
    registerHttpRoute: bound(registerHttpRoute),
    registerHttpHandler: bound(registerHttpHandler),
  };
  const api = {
    id,
    name,
    version,
    description,
    source,
    ...definedFields({ rootDir: plugin.rootDir }),
    config,
    pluginConfig,
    logger: plugin.intake.watch('api.logger', plugin.legacyLogger),
    ...plugin.intake.watch('api', { resolvePath, ...registrations }),
    ...standInsOf('api', plugin.refusals.method),
    get runtime() {
      plugin.refusals.ask();
      return runtime;
    },
  };
  return plugin.profile === '2026.9' ? withLaterMembers(api, plugin) : api;
}

/** Adds the members that profile 2026.9 has. */
function withLaterMembers(api: object, plugin: Registering): object {
  const { refusals, intake } = plugin;
  const groups = laterStandInsOf('groups', refusals.part) as Readonly<Record<string, object>>; // each is a proxy
  const { session = {} } = groups;
  const injections = { enqueueNextTurnInjection: nextTurnInjections(plugin) };
  const workflow = withStandIns(intake.watch('api.session.workflow', injections), () =>
    Reflect.get(session, 'workflow'),
  );
  const served = {
    ...groups,
    session: withStandIns({ workflow }, () => session),
    lifecycle: withStandIns(
      intake.watch('api.lifecycle', lifecycleOf(plugin)),
      () => groups['lifecycle'] ?? {},
    ),
  };
  for (const [name, group] of Object.entries(served))
    Object.defineProperty(api, name, {
      get: () => {
        refusals.ask();
        return group;
      },
    });
  const functions = laterStandInsOf('functions', refusals.method);
  return Object.assign(api, functions, intake.watch('api', injections), {
    registrationMode: 'full',
  });
}

/** `api.lifecycle`: the life of the plugin as it is loaded. What it has disposed of goes with it. */
function lifecycleOf({ scope, report }: Registering): object {
  const ended = new AbortController();
  const disposers = new Set<() => unknown>();
  scope.add('lifecycle', async () => {
    ended.abort();
    for (const dispose of [...disposers].reverse())
      await Promise.resolve()
        .then(dispose)
        .catch((error: unknown) => report('error', 'what it has to be disposed of is left', error));
  });
  return {
    signal: ended.signal,
    onDispose: (dispose: () => unknown) => {
      disposers.add(dispose);
      return () => void disposers.delete(dispose);
    },
  };
}

/** A path as people write it: `~` is their home, or the working folder if they have none. What is relative begins there, too. */
function resolvePath(input: string): string {
  const path = input.trim();
  if (path === '') return path;
  return resolve(/^~(?=$|[/\\])/.test(path) ? join(homeFolder() ?? '.', path.slice(1)) : path);
}
