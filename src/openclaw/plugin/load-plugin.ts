import {
  definedFields,
  isSluiceError,
  isThenable,
  oneLine,
  type SluiceError,
} from '../../kernel/index.js';
import { fromJsonSchema } from '../../sdk/extension/index.js';
import { readConfig } from '../../sdk/extension/internal.js';
import { legacyError } from '../errors.js';
import { offerOf } from '../host/legacy-offer.js';
import { apiOf } from './api.js';
import { withRoutes } from './http/plugin-routes.js';
import { type NewPlugin, newPlugin } from './new-plugin.js';
import type { PluginSdk } from './sdk/find-openclaw.js';
import { type PluginExport, pluginExportOf } from './shape/module-shape.js';
import type { LegacyPlugin, LegacyPluginOptions, PluginTarget } from './shape/plugin.js';
import { skillsIn } from './shape/skill-folders.js';

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

/** The same, with what was found out about the plugin before its module was imported. */
export function loadWith(
  module: unknown,
  options: LegacyPluginOptions,
  {
    warnings,
    folder,
    ...found
  }: {
    readonly warnings: readonly string[];
    readonly folder?: string;
    readonly sdk?: PluginSdk;
    readonly target?: PluginTarget;
  },
): LegacyPlugin {
  const exported = pluginExportOf(module);
  const plugin = newPlugin(exported.definition, options, folder);
  for (const warning of warnings) plugin.tell('warn', warning);
  const named = options.manifest?.skills ?? [];
  if (folder === undefined && named.length > 0)
    plugin.refusals.note('openclaw.plugin.json: skills');
  const skills =
    folder === undefined ? [] : skillsIn(folder, named, (problem) => plugin.tell('warn', problem));
  const error = setUp(plugin, exported, options);
  if (error !== undefined)
    plugin.logger.error(`it is not set up (${error.code})`, {
      code: error.code,
      hint: error.hint,
      error,
    });
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
      plugin.tell('warn', 'its register function is async; nobody waits for it, as in OpenClaw');
      returned.then(undefined, (late: unknown) =>
        plugin.tell('error', 'its register function was rejected', late),
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
