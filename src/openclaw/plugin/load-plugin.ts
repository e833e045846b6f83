import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { fromJsonSchema } from '@sluice/sdk/extension';
import { readConfig } from '@sluice/sdk/extension/internal';
import {
  definedFields,
  isSluiceError,
  isThenable,
  oneLine,
  type SluiceError,
} from 'sluice-kernel/internal';
import { legacyError } from '../errors.js';
import { offerOf } from '../host/legacy-offer.js';
import { apiOf } from './api.js';
import { withRoutes } from './http/plugin-routes.js';
import { type NewPlugin, newPlugin } from './new-plugin.js';
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
  const plugin = newPlugin(exported.definition, options, folder);
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
