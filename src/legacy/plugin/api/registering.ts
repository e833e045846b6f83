import type { Scope } from '../../../extension/index.js';
import type {
  LegacyPlugin,
  PluginDiagnostic,
  PluginHook,
  PluginInternalHook,
} from '../shape/plugin.js';
import type { LegacyChannel, LegacyCommand, LegacyLogger, LegacyService } from '../shape/shapes.js';
import type { PluginBuses } from './buses.js';
import type { Refusals } from './refusals.js';

/** The names of a plugin, and the configuration that it is shown. */
type Named = Pick<
  LegacyPlugin,
  'pluginId' | 'name' | 'version' | 'description' | 'source' | 'kernel' | 'config'
>;

/** A plugin while it registers: its api writes to this. The lists grow as long as the plugin lives. */
export interface Registering extends Named {
  readonly trusted: boolean;
  readonly allowPromptInjection: boolean;
  readonly pluginConfig: Readonly<Record<string, unknown>> | undefined;
  readonly legacyLogger: LegacyLogger;
  readonly scope: Scope;
  readonly refusals: Refusals;
  /** Makes the buses when a plugin needs them: without a listener nothing is put on the kernel. */
  readonly buses: () => PluginBuses;
  readonly hooks: PluginHook[];
  readonly internalHooks: PluginInternalHook[];
  readonly services: LegacyService[];
  readonly commands: LegacyCommand[];
  readonly channels: LegacyChannel[];
  /** Writes a diagnostic, and logs it. The log entry has the thrown error in its fields. */
  readonly tell: (level: PluginDiagnostic['level'], message: string, thrown?: unknown) => void;
}
