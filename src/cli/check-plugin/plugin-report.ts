import {
  definedFields,
  type ExecutionMode,
  type Kernel,
  type SluiceError,
} from '../../kernel/index.js';
import {
  type LegacyDivergence,
  type LegacyHookName,
  type LegacyPlugin,
  legacyDivergences,
  legacyHookNames,
} from '../../legacy/index.js';
import type { PluginMention } from './plugin-mentions.js';

/** The findings of `check-plugin` about a plugin, as plain data. */
export interface PluginReport {
  readonly path: string;
  /** The host has everything that the plugin asked for when it registered, or names in its source. */
  readonly works: boolean;
  readonly plugin?: { readonly id: string; readonly name: string; readonly version?: string };
  /** The code that stands for its imports of `openclaw/plugin-sdk`. */
  readonly sdk?: NonNullable<LegacyPlugin['sdk']>;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  readonly hooks: readonly HookReport[];
  readonly internalHooks: LegacyPlugin['internalHooks'];
  readonly services: readonly string[];
  readonly commands: readonly string[];
  readonly channels: readonly string[];
  /** The divergences that the hooks name, then those that every hook has. */
  readonly divergences: readonly {
    readonly name: string;
    readonly what: string;
    readonly reason: string;
  }[];
  readonly unsupported: LegacyPlugin['unsupported'];
  /** The further members that its source names. */
  readonly mentions: readonly PluginMention[];
  readonly diagnostics: LegacyPlugin['diagnostics'];
}

/** A hook of a plugin, with the contributions that it becomes. */
export interface HookReport {
  readonly hook: string;
  readonly priority?: number;
  readonly becomes: readonly {
    readonly family: string;
    readonly class: string;
    readonly mode: ExecutionMode | undefined;
  }[];
  /** The divergences of this hook that not every hook has, by name. */
  readonly differs: readonly string[];
}

/** The report on a plugin that was loaded. */
export function reportOn(
  path: string,
  plugin: LegacyPlugin,
  kernel: Kernel,
  inSource: readonly PluginMention[],
): PluginReport {
  const { pluginId: id, name, version, sdk, error, unsupported, diagnostics } = plugin;
  const modes = new Map<string, ExecutionMode>(
    kernel.stages().map(({ stage }) => [stage.family, stage.mode]),
  );
  const hooks = plugin.hooks.map(({ hookName, priority, parts }) => ({
    hook: hookName,
    ...definedFields({ priority }),
    becomes: parts.map((part) => ({ ...part, mode: modes.get(part.family) })),
    differs: divergencesOf(hookName)
      .filter((row) => !isGeneral(row))
      .map((row) => row.name),
  }));
  const mentions = inSource.filter(
    ({ method }) => !unsupported.some((call) => call.method === method),
  );
  const named = new Set(hooks.flatMap(({ differs }) => differs));
  return {
    path,
    works:
      error === undefined &&
      unsupported.length + mentions.length === 0 &&
      diagnostics.every(({ level }) => level === 'info'),
    plugin: { id, name, ...definedFields({ version }) },
    ...definedFields({ sdk }),
    ...(error !== undefined && { error: errorData(error) }),
    hooks,
    internalHooks: plugin.internalHooks,
    services: plugin.services.map((service) => service.id),
    commands: plugin.commands.map((command) => command.name),
    channels: plugin.channels.map((channel) => channel.id),
    divergences: legacyDivergences
      .filter((row) => named.has(row.name) || (hooks.length > 0 && isGeneral(row)))
      .toSorted((a, b) => Number(isGeneral(a)) - Number(isGeneral(b)))
      .map(({ name: row, what, reason }) => ({ name: row, what, reason })),
    unsupported,
    mentions,
    diagnostics,
  };
}

/** The report on a plugin whose module could not be loaded. */
export function reportOnFailure(path: string, thrown: SluiceError): PluginReport {
  return {
    path,
    works: false,
    error: errorData(thrown),
    hooks: [],
    internalHooks: [],
    services: [],
    commands: [],
    channels: [],
    divergences: [],
    unsupported: [],
    mentions: [],
    diagnostics: [],
  };
}

/** Tells whether a divergence concerns every hook: it says nothing of this one. */
function isGeneral({ hooks }: LegacyDivergence): boolean {
  return hooks.length === legacyHookNames.length;
}

function divergencesOf(hook: LegacyHookName): readonly LegacyDivergence[] {
  return legacyDivergences.filter(({ hooks }) =>
    (hooks as readonly LegacyHookName[]).includes(hook),
  );
}

function errorData({ code, message, hint }: SluiceError): NonNullable<PluginReport['error']> {
  return { code, message, hint };
}
