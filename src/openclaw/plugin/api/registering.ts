import type { Scope } from '@sluice/sdk/extension';
import type { Clock } from 'sluice-kernel';
import type { RouteList } from '../http/plugin-routes.js';
import type { LegacyPlugin, PluginDiagnostic } from '../shape/plugin.js';
import type { LegacyLogger } from '../shape/shapes.js';
import type { PluginState } from '../state/plugin-state.js';
import type { MessageWay } from '../way/message-way.js';
import type { PluginBuses } from './buses.js';
import type { Refusals } from './refusals.js';

/** The fields of a loaded plugin that its host gives it. */
type Given = 'kernel' | 'config' | 'workspaceDir' | 'logger' | 'answersHttp';
type Named = 'pluginId' | 'name' | 'version' | 'description' | 'source' | 'profile';
/** The lists of a loaded plugin that its api writes to. */
type Brought =
  | ('hooks' | 'internalHooks' | 'services' | 'commands' | 'channels' | 'tools')
  | ('cliCommands' | 'gatewayMethods');
type Lists = { readonly [K in Brought]: LegacyPlugin[K][number][] };

/** The budgets of hooks, in milliseconds: by hook, and for all others. */
interface PluginTimeouts {
  readonly timeoutMs?: number | undefined;
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

/** A plugin while it registers: its api writes to this. The lists grow as long as the plugin lives. */
export interface Registering extends Pick<LegacyPlugin, Given | Named>, Lists {
  /** The plugin's folder, if it was loaded from one. */
  readonly rootDir?: string;
  /** The folder of the installed openclaw whose code it imports, if there is one. */
  readonly openclaw?: string;
  readonly trusted: boolean;
  readonly allowPromptInjection: boolean;
  /** It may see what people and the agent say (`hooks.allowConversationAccess`). */
  readonly conversationAccess: boolean;
  /** The operator's budgets for its hooks. */
  readonly timeouts: PluginTimeouts;
  readonly pluginConfig: Readonly<Record<string, unknown>> | undefined;
  readonly legacyLogger: LegacyLogger;
  /** The folder that it keeps things in. It need not exist yet. */
  readonly stateDir: string;
  readonly clock: Clock;
  /** The place where its channels hand messages over. */
  readonly intake: MessageWay;
  readonly state: PluginState;
  /** `api.runtime.channel`: made when it is asked for first. */
  readonly channelRuntime: () => object;
  readonly httpRoutes: RouteList;
  readonly scope: Scope;
  readonly refusals: Refusals;
  /** Makes the buses when a plugin needs them: without a listener nothing is put on the kernel. */
  readonly buses: () => PluginBuses;
  /** The optional tools that the operator allows. */
  readonly optionalTools: readonly string[];
  /** Writes a diagnostic, and logs it. The log entry has the thrown error in its fields. */
  readonly report: (
    level: PluginDiagnostic['level'],
    message: string,
    thrown?: unknown,
    about?: PluginDiagnostic['about'],
  ) => void;
}
