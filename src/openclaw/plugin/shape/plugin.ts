import type { HostPlugin } from '@sluice/host';
import type { UndoReport } from '@sluice/sdk/extension';
import type { Clock, FamilyName, HandlerClass, Kernel, Logger, SluiceError } from 'sluice-kernel';
import type { LegacyHookName, LegacyProfile } from '../../profiles/index.js';
import type { PluginSdk } from '../sdk/find-openclaw.js';
import type { LegacyIntake, LegacyState } from './intake.js';
import type { LegacyManifest } from './manifest.js';
import type {
  LegacyChannel,
  LegacyCliCommands,
  LegacyCommand,
  LegacyGatewayMethod,
  LegacyHttpRoute,
  LegacyService,
  LegacySkill,
  LegacyTool,
} from './shapes.js';

type Fields = Readonly<Record<string, unknown>>;

/** A plugin hook that a plugin has registered, and what it became. */
interface PluginHook {
  readonly hookName: LegacyHookName<LegacyProfile>;
  readonly priority?: number;
  /** Its contributions, in run order. */
  readonly parts: readonly { readonly family: FamilyName; readonly class: HandlerClass }[];
}

/** A handler for internal hooks that a plugin has registered. */
interface PluginInternalHook {
  readonly name: string;
  readonly description: string;
  /** `type` or `type:action`. */
  readonly events: readonly string[];
  /** The handler is called: the config switches internal hooks on. */
  readonly attached: boolean;
}

/** Something that a plugin asked for and that is not there. */
export interface UnsupportedCall {
  /** As the plugin names it: `api.registerCli`, `api.runtime.tts.speak`. */
  readonly method: string;
  /** A sentence about the thing to use instead. */
  readonly instead: string;
  /** The file of the call, and its line if that is known: `/plugins/pigeon/index.ts:12`. */
  readonly place?: string;
}

/** Something that was found while a plugin was loaded or started. */
export interface PluginDiagnostic {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** The thing that was left out, if it is about one: a `hook`, a `command`. */
  readonly about?: { readonly kind: string; readonly name: string };
}

/** The OpenClaw that a plugin was written for, as its `package.json` says. */
export interface PluginTarget {
  /** The version that it was built with: `openclaw.build`, or the version that its development dependencies name. */
  readonly builtWith?: string;
  /** The versions that it asks for, as npm writes them: `peerDependencies`, `openclaw.compat` or `openclaw.install`. */
  readonly asksFor?: string;
}

/** The options of loading a plugin. */
export interface LegacyPluginOptions {
  /** The kernel that its hooks go on. A host that is to run it must have the same. */
  readonly kernel: Kernel;
  /** The name that it goes by; that of its manifest or export by default. */
  readonly pluginId?: string;
  /** Its `openclaw.plugin.json`: `pluginConfig` is judged by its schema. Without one nothing is. */
  readonly manifest?: LegacyManifest;
  /** The OpenClaw configuration that it is shown. It is read for this plugin's entry, too. */
  readonly config?: Fields;
  /** The plugin's own configuration; `config.plugins.entries.<id>.config` by default. */
  readonly pluginConfig?: Fields;
  /** `config.plugins.entries.<id>.hooks` by default. */
  readonly hooks?: {
    /** `false` keeps `before_prompt_build`, and the prompt fields of `before_agent_start`, from it. */
    readonly allowPromptInjection?: boolean;
    /** `false` keeps the hooks that see what people and the agent say from it. */
    readonly allowConversationAccess?: boolean;
    /** Milliseconds that its hooks may take (profile 2026.9), whatever it says itself; by hook in `timeouts`. */
    readonly timeoutMs?: number;
    readonly timeouts?: Readonly<Record<string, number>>;
  };
  /** Lets it replace the system prompt. */
  readonly trusted?: boolean;
  /** The release whose behaviour it was written for; by default the one that its manifest names, else `2026.3`. */
  readonly profile?: LegacyProfile;
  readonly logger?: Logger;
  /** Times its services. */
  readonly clock?: Clock;
  /** The file that it comes from, for messages. */
  readonly source?: string;
  /** The folder that its services and tools are told; the working folder by default. */
  readonly workspaceDir?: string;
  /** The folder that its services keep things in; `.sluice/<id>` in the workspace by default. */
  readonly stateDir?: string;
  /** The names of its optional tools that agents may have, or `*`, beside those that `config.tools` allows; by default none. */
  readonly optionalTools?: readonly string[];
  /** Lets its HTTP routes answer at the port of the host; by default nobody is answered there. */
  readonly routes?: boolean;
  /**
   * `skip` (the default) writes down that it asked for a member that is not there, and goes on: what that call gives can
   * never be sent, answered or chosen. `refuse` throws instead.
   */
  readonly unsupported?: 'refuse' | 'skip';
}

/**
 * A loaded plugin. Its hooks are live as soon as it is loaded; a host, given it in `plugins`, runs the rest: it starts
 * its services, answers its commands and sends by its channels. The code that loaded it disposes it.
 */
export interface LegacyPlugin extends HostPlugin, AsyncDisposable {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly source: string;
  /** The release whose hooks and api it has. */
  readonly profile: LegacyProfile;
  /** The code that stands for its imports of `openclaw/plugin-sdk`, if it was loaded from its folder. */
  readonly sdk?: PluginSdk;
  /** The OpenClaw that it was written for, if it was loaded from its folder and its package says so. */
  readonly target?: PluginTarget;
  /** `error` where it could not be set up. What it had registered before stays, as it does in OpenClaw. */
  readonly status: 'loaded' | 'error';
  readonly error?: SluiceError;
  /** The OpenClaw configuration that it was shown. */
  readonly config: Fields;
  /** The folder that its services and tools are told. */
  readonly workspaceDir: string;
  readonly hooks: readonly PluginHook[];
  readonly internalHooks: readonly PluginInternalHook[];
  readonly services: readonly LegacyService[];
  readonly commands: readonly LegacyCommand[];
  readonly channels: readonly LegacyChannel[];
  /** The place where a host takes what its channels hand over. */
  readonly intake: LegacyIntake;
  /** The place where a host keeps what it stores (`api.runtime.state` of profile 2026.9). */
  readonly state: LegacyState;
  readonly tools: readonly LegacyTool[];
  /** The skills of its manifest, if it was loaded from its folder. */
  readonly skills: readonly LegacySkill[];
  readonly cliCommands: readonly LegacyCliCommands[];
  readonly gatewayMethods: readonly LegacyGatewayMethod[];
  /** Those that are registered now: a channel has its routes as long as its accounts run. */
  readonly httpRoutes: readonly LegacyHttpRoute[];
  /** Its routes answer: the operator lets them. */
  readonly answersHttp: boolean;
  /** The members that it asked for in vain so far, once per method. */
  readonly unsupported: readonly UnsupportedCall[];
  readonly diagnostics: readonly PluginDiagnostic[];
  /** Stops it, and takes back its hooks and listeners. Never rejects. */
  dispose(): Promise<UndoReport>;
}
