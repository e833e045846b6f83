import { randomUUID } from 'node:crypto';
import { createTestKernel } from '@sluice/testing';
import { definedFields, fieldsOf, loggerWith } from 'sluice-kernel/internal';
import { loadLegacyPlugin } from '../plugin/load-plugin.js';
import { type LoadPluginFromOptions, loadLegacyPluginFrom } from '../plugin/load-plugin-from.js';
import { pluginExportOf } from '../plugin/shape/module-shape.js';
import { type LegacyHookName, legacyHookNames } from '../profiles/index.js';
import type { ParityHandler, PluginLine } from './parity-run.js';

/** A plugin of a scenario, by its path or by its register function, with its options. */
export interface ParityPlugin
  extends Pick<LoadPluginFromOptions, 'from' | 'openclaw' | 'config' | 'pluginConfig' | 'profile'> {
  readonly plugin: string | ((api: never) => unknown);
}

/** The handlers that a plugin has registered. Its own lines come into `said` as it logs them. */
interface PluginHandlers extends AsyncDisposable {
  readonly handlers: readonly ParityHandler[];
  readonly said: readonly PluginLine[];
}

/**
 * Loads a plugin, and takes its hooks. Each call has an instance of the plugin's entry module of its own.
 *
 * @throws SluiceError (as a rejection) if it cannot be set up, as of `loadLegacyPluginFrom`.
 */
export async function pluginHandlers({
  plugin,
  profile = '2026.3',
  ...options
}: ParityPlugin): Promise<PluginHandlers> {
  const handlers: ParityHandler[] = [];
  const said: PluginLine[] = [];
  const { kernel } = createTestKernel();
  const rest = {
    ...options,
    profile,
    kernel,
    logger: loggerWith((level, text) => void said.push({ level, text })),
  };
  const taking = (register: (api: never) => unknown) => (api: object) => {
    const on = (hook: LegacyHookName, handler: ParityHandler['handler'], given?: unknown): void => {
      const { priority, ...rest } = fieldsOf(given) as { readonly priority?: number };
      if ((legacyHookNames[profile] as readonly string[]).includes(hook))
        handlers.push({
          ...{ hook, pluginId: '', handler, ...definedFields({ priority }) },
          ...(profile === '2026.9' && { options: rest }),
        });
    };
    const recording = {
      get: (target: object, key: PropertyKey): unknown =>
        key === 'on' ? on : Reflect.get(target, key),
    };
    return register(new Proxy(api, recording) as never); // the plugin's own api, but for `on`
  };
  const loaded =
    typeof plugin === 'string'
      ? await loadLegacyPluginFrom(plugin, {
          ...rest,
          importModule: async (url) => {
            const own = new URL(url);
            own.searchParams.set('instance', randomUUID());
            const module: unknown = await import(/* @vite-ignore */ own.href);
            const { register, definition } = pluginExportOf(module);
            if (register === undefined) return module;
            return { ...definition, register: taking(register) };
          },
        })
      : loadLegacyPlugin(taking(plugin), { ...rest, pluginId: 'plugin' });
  if (loaded.error !== undefined) throw loaded.error;
  const { pluginId } = loaded;
  return {
    handlers: handlers.map((handler) => ({ ...handler, pluginId })),
    said,
    [Symbol.asyncDispose]: () => loaded[Symbol.asyncDispose](),
  };
}
