import {
  definedFields,
  type ExecutionMode,
  type Kernel,
  type SluiceError,
} from 'sluice-kernel/internal';
import {
  type LegacyDivergence,
  type LegacyPlugin,
  legacyDivergences,
  type PluginTarget,
} from '../../index.js';
import { type PluginCapability, pluginCapabilities } from '../../plugin/api/capabilities.js';
import type { PluginMention } from './plugin-mentions.js';

/**
 * The verdict on a plugin as a whole: all of it works, all of it with limits that are named, it has channels that only a run shows to
 * work, some of it is refused, nothing else of it is known to work, its code does not load, or there is none.
 */
export type PluginVerdict =
  | 'works'
  | 'works-but'
  | 'registered'
  | 'partly'
  | 'refused'
  | 'does-not-load'
  | 'not-found';

/** The findings of `check-plugin` about a plugin, as plain data. */
export interface PluginReport {
  /** Grows if a field goes or changes its meaning. */
  readonly schemaVersion: 1;
  readonly path: string;
  readonly verdict: PluginVerdict;
  /** Nothing of it is refused. */
  readonly works: boolean;
  readonly plugin?: { readonly id: string; readonly name: string; readonly version?: string };
  /** The code that stands for its imports of `openclaw/plugin-sdk`. */
  readonly sdk?: NonNullable<LegacyPlugin['sdk']>;
  /** The OpenClaw that it was written for. */
  readonly target?: PluginTarget;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  readonly capabilities: readonly PluginCapability[];
  readonly hooks: readonly HookReport[];
  /** The divergences that its hooks have, those that a plugin by itself can meet first. */
  readonly divergences: readonly {
    readonly name: string;
    readonly what: string;
    readonly reason: string;
    readonly minor?: true;
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
  /** The divergences of this hook that a plugin by itself can meet, by name. */
  readonly differs: readonly string[];
}

/** The report on a plugin that was loaded. */
export function reportOn(
  path: string,
  plugin: LegacyPlugin,
  kernel: Kernel,
  inSource: readonly PluginMention[],
): PluginReport {
  const { pluginId: id, name, version, sdk, target, error, unsupported, diagnostics } = plugin;
  const modes = new Map<string, ExecutionMode>(
    kernel.stages().map(({ stage }) => [stage.family, stage.mode]),
  );
  const mentions = inSource.filter(
    ({ method }) => !unsupported.some((call) => call.method === method),
  );
  const capabilities = pluginCapabilities(
    plugin,
    mentions.map(({ file, line, ...call }) => ({ ...call, place: `${file}:${line}` })),
  );
  const verdict = error === undefined ? verdictOn(capabilities, diagnostics) : 'does-not-load';
  const rows: readonly LegacyDivergence[] = legacyDivergences;
  return {
    schemaVersion: 1,
    path,
    verdict,
    works: ['works', 'works-but', 'registered'].includes(verdict),
    plugin: { id, name, ...definedFields({ version }) },
    ...definedFields({ sdk, target }),
    ...(error !== undefined && { error: errorData(error) }),
    capabilities,
    hooks: plugin.hooks.map(({ hookName, priority, parts }) => ({
      hook: hookName,
      ...definedFields({ priority }),
      becomes: parts.map((part) => ({ ...part, mode: modes.get(part.family) })),
      differs:
        capabilities.find((one) => one.kind === 'hook' && one.name === hookName)?.differs ?? [],
    })),
    divergences: rows
      .filter(({ profiles }) => profiles.includes(plugin.profile))
      .filter(({ hooks }) => plugin.hooks.some(({ hookName }) => hooks.includes(hookName)))
      .toSorted((a, b) => Number(a.minor ?? false) - Number(b.minor ?? false))
      .map(({ name, what, reason, minor }) => ({
        name,
        what,
        reason,
        ...definedFields({ minor }),
      })),
    unsupported,
    mentions,
    diagnostics,
  };
}

/** The report on a plugin whose module could not be loaded, or that there is not. */
export function reportOnFailure(
  path: string,
  thrown: SluiceError,
  target: PluginTarget | undefined,
): PluginReport {
  return {
    schemaVersion: 1,
    path,
    verdict: thrown.code === 'plugin-not-found' ? 'not-found' : 'does-not-load',
    works: false,
    ...definedFields({ target }),
    error: errorData(thrown),
    capabilities: [],
    hooks: [],
    divergences: [],
    unsupported: [],
    mentions: [],
    diagnostics: [],
  };
}

function verdictOn(
  capabilities: readonly PluginCapability[],
  diagnostics: LegacyPlugin['diagnostics'],
): PluginVerdict {
  const has = (...wanted: readonly PluginCapability['verdict'][]): boolean =>
    capabilities.some(({ verdict }) => wanted.includes(verdict));
  const isHurt = has('refused') || diagnostics.some(({ level }) => level === 'error');
  if (isHurt) return has('works', 'works-but') ? 'partly' : 'refused';
  if (has('registered')) return 'registered';
  const isLimited = has('works-but') || diagnostics.some(({ level }) => level === 'warn');
  return isLimited ? 'works-but' : 'works';
}

function errorData({ code, message, hint }: SluiceError): NonNullable<PluginReport['error']> {
  return { code, message, hint };
}
