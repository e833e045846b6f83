import type { Scope } from '../../../extension/index.js';
import type { Kernel } from '../../../kernel/index.js';
import type { PluginDiagnostic, PluginHook, PluginInternalHook } from '../shape/plugin.js';
import type { LegacyChannel, LegacyCommand, LegacyLogger, LegacyService } from '../shape/shapes.js';
import type { PluginBuses } from './buses.js';
import type { Refusals } from './refusals.js';

type Fields = Readonly<Record<string, unknown>>;

/** A plugin while it registers: what its api writes to. The lists grow as long as the plugin lives. */
export interface Registering {
  readonly pluginId: string;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly source: string;
  readonly kernel: Kernel;
  readonly trusted: boolean;
  readonly allowPromptInjection: boolean;
  readonly config: Fields;
  readonly pluginConfig: Fields | undefined;
  readonly legacyLogger: LegacyLogger;
  readonly scope: Scope;
  readonly refusals: Refusals;
  /** Asked for when they are needed: without a listener nothing is put on the kernel. */
  readonly buses: () => PluginBuses;
  readonly hooks: PluginHook[];
  readonly internalHookList: PluginInternalHook[];
  readonly services: LegacyService[];
  readonly commands: LegacyCommand[];
  readonly channels: LegacyChannel[];
  /** Writes a diagnostic, and logs it. The thrown error is told with it, as a field of the log entry. */
  readonly tell: (level: PluginDiagnostic['level'], message: string, thrown?: unknown) => void;
}
