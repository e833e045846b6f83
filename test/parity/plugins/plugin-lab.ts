import { createKernel, definedFields } from '../../../src/kernel/internal.js';
import {
  createLegacyHookRunner,
  type LegacyHookRunner,
  type LegacyPlugin,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';
import { type MakeLegacyRunner, openclawHookRunner } from '../../../src/openclaw/parity/index.js';
import { type CollectingLogger, collectingLogger } from '../../../src/testing/index.js';

/** The methods of a runner, as their callers use them. */
type RealHookRunner = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
type TypedHook = Parameters<MakeLegacyRunner>[0]['typedHooks'][number];

type Fields = Record<string, unknown>;

/** What a plugin is given. */
export interface PluginSetting {
  readonly pluginId: string;
  readonly config?: Fields;
  readonly pluginConfig?: Fields;
}

/** One side of a comparison: a runner that a plugin is registered with, and what the plugin wrote. */
export interface Side {
  readonly runner: RealHookRunner;
  readonly written: () => readonly string[];
}

/** A plugin on the bridge: loaded as it is, and called by the methods of the legacy runner. */
export interface BridgedSide extends Side {
  readonly kernel: ReturnType<typeof createKernel>;
  readonly plugin: LegacyPlugin;
}

/** Registers a plugin with the real runner, as the real loader does. */
export async function realSide(
  root: string,
  register: (api: unknown) => void,
  { pluginId, config = {}, pluginConfig }: PluginSetting,
): Promise<Side & { readonly hooks: readonly string[] }> {
  const typedHooks: TypedHook[] = [];
  const written: string[] = [];
  const line = (level: string) => (text: string) => void written.push(`${level} ${text}`);
  register({
    id: pluginId,
    config,
    pluginConfig,
    logger: { info: line('info'), warn: line('warn'), error: line('error') },
    on: (
      hookName: TypedHook['hookName'],
      handler: TypedHook['handler'],
      options: { priority?: number } = {},
    ) =>
      typedHooks.push({
        pluginId,
        hookName,
        handler,
        source: pluginId,
        ...definedFields({ priority: options.priority }),
      }),
  });
  const logger = { debug: () => undefined, warn: () => undefined, error: () => undefined };
  const makeRunner = await openclawHookRunner(root);
  const runner = makeRunner({ typedHooks }, { logger, catchErrors: true }) as RealHookRunner; // a method for each hook
  return { runner, written: () => written, hooks: typedHooks.map(({ hookName }) => hookName) };
}

/** Loads a plugin's module on a kernel of its own. */
export function bridgedSide(module: unknown, setting: PluginSetting): BridgedSide {
  const kernel = createKernel();
  const logger: CollectingLogger = collectingLogger();
  const plugin = loadLegacyPlugin(module, { ...setting, kernel, logger });
  if (plugin.error !== undefined) throw plugin.error;
  const runner: LegacyHookRunner = createLegacyHookRunner(kernel);
  return {
    kernel,
    plugin,
    runner: runner as unknown as RealHookRunner, // the same methods
    written: () => logger.entries.map(({ level, message }) => `${level} ${message}`),
  };
}
