import type { AgentRetry, AgentTurnCallbacks } from '@sluice/agent';
import type { Journal, MessageEnd, Store } from '@sluice/journal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { Extension, ExtensionSet } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { Clock, Kernel, KernelOptions, Logger } from 'sluice-kernel';
import type { FailureTextOption } from '../config/failure-text.js';
import type { SluiceConfig } from '../config/sluice-config.js';
import type { ChatCommand } from '../provided/chat-commands.js';
import type { HostPlugin } from '../provided/plugins.js';
import type { RolesOf, RoleTable } from '../provided/roles.js';
import type { DispatchTapOptions } from '../timeline/dispatch-tap.js';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';

/** Milliseconds that a turn may take where its agent does not say: ten minutes. */
export const usualTurnMs = 600_000;

/** Milliseconds that one send may take if the options do not say: one minute. */
export const usualSendMs = 60_000;

/** Characters of an update that a journal keeps if the options do not say. */
export const usualUpdateLength = 1_048_576;

/** The longest `joinWithinMs`: ten times as long is the longest wait of a message. */
export const longestJoinWithinMs = 60_000;

/** An agent that the host offers. `id`, `systemPrompt`, `timeoutMs` and `maxRunning` are those of a config. */
export interface AgentDefinition
  extends Omit<NonNullable<SluiceConfig['agents']>[number], 'provider'> {
  readonly provider: AgentProvider;
  /** By default the first model of the provider. */
  readonly model?: string;
  /** The retries when its provider fails; none by default. */
  readonly retry?: AgentRetry;
}

/** An extension to load, or the module that it is in, with its configuration as it was written. */
export type HostExtension = (
  | { readonly extension: Extension }
  /** A path or a package name, read from a folder, by default from the working folder. */
  | { readonly path: string; readonly from?: string }
) & {
  readonly config?: unknown;
  /** The host does not start without it: a guard that is missing would leave a door open. `start` rejects with why. */
  readonly required?: boolean;
};

/** The journal of a host, with the settings that a config has of it. */
export interface HostJournal
  extends Pick<NonNullable<SluiceConfig['journal']>, 'maxAttempts'>,
    DispatchTapOptions {
  /** The journal; by default one in memory, which keeps what has not ended, and acknowledges each update at its end. */
  readonly opened?: Journal & { readonly store?: Store };
  /** The part of each dispatch of the host's own kernel that the journal gets; `false` is none. A given kernel has its own tap. */
  readonly dispatches?: boolean | DispatchTapOptions;
  /** `false`: who opened the journal closes it. */
  readonly closes?: boolean;
  /**
   * Milliseconds that a host runs before it begins a message for the last time that it may be begun; by default 1 000. So
   * hosts that end soon, for whatever reason, use up no last attempt.
   */
  readonly lastAttemptAfterMs?: number;
  /** Characters that an update may have for the journal to keep its body; by default 1 048 576. */
  readonly maxUpdateLength?: number;
}

/** The settings of a config that a host takes as they are. */
type HostSettings = Pick<
  SluiceConfig,
  | 'defaultAgent'
  | 'stateDir'
  | 'session'
  | 'ingress'
  | 'lanes'
  | 'budgets'
  | 'cancelText'
  | 'locale'
  | 'texts'
>;

/** The settings of a config that are those of the host's own kernel. */
type KernelSettings = Pick<KernelOptions, 'grants' | 'leastPrivilege' | 'overrides' | 'audit'>;

/** The config of a host: the settings of a config file, with live objects in the place of names and paths. */
export interface HostOptions extends HostSettings, KernelSettings {
  readonly quarantine?: false | KernelOptions['quarantine'];
  /** The agents on offer. The first is the default, unless `defaultAgent` says otherwise. */
  readonly agents: readonly AgentDefinition[];
  /**
   * Channels beside those that extensions provide; by default none. If one is named by its id, those alone that are in the list are
   * started of all channels. Those of plugins only send, and stay.
   */
  readonly channels?: readonly (ChannelPlugin | string)[];
  /**
   * Extensions to load, or a set of the same `kernel` that somebody else has loaded: then whoever did disposes it. A set
   * that was given no `host` uses the stores and folders of this one from its start on.
   */
  readonly extensions?: readonly HostExtension[] | ExtensionSet;
  /**
   * Plugins, loaded into the same `kernel`. The host starts and stops their services, answers their commands
   * and sends by their channels; whoever loaded them disposes them.
   */
  readonly plugins?: readonly HostPlugin[];
  /** Keeps updates and sends, so that they outlive the process (spec/durability.md). The host closes it. */
  readonly journal?: NonNullable<HostJournal['opened']> | HostJournal;
  /** How humans are asked before something happens (judgement §4). */
  readonly approvals?: NonNullable<SluiceConfig['approvals']> & {
    /** Takes secrets out of what people are shown; by default none. Values of fields with the name of a secret are never shown. */
    readonly clean?: (text: string) => string;
  };
  /** The text for the sender of a message that could not be answered; by default a text that names the code of the failure. */
  readonly failureText?: FailureTextOption;
  /** The roles of senders that channels have proven: a table, or a lookup of your own (judgement §1.6). */
  readonly roles?: RoleTable | RolesOf;
}

/** The parts of a host that no config can hold: the services and functions of the program that makes it. */
export interface HostProgram {
  /**
   * The options of the host's own kernel; `tap` sees every dispatch. Or a kernel that somebody else owns and has made of the
   * settings `grants` to `quarantine`: it is not closed.
   */
  readonly kernel?: Kernel | KernelOptions;
  /**
   * Hears each entry of the timelines of messages (sight §1). If absent, the host makes one, which writes to the journal what
   * its settings say. One that is given writes nothing by itself: `timeline.listen(keepTimeline(journal))`.
   */
  readonly timeline?: TimelineRecorder;
  /** Keeps the sessions; by default the store that the journal has, or one in memory. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Makes the ids of sessions and runs; by default random ones. */
  readonly newId?: (kind: 'session' | 'run') => string;
  /** Providers that `agent.model.resolving` may choose besides those of the agents. */
  readonly providers?: readonly AgentProvider[];
  /** Chat commands besides `/new`, `/stop` and `/help`. */
  readonly commands?: readonly ChatCommand[];
  /** The things that people see of a turn besides its answers; none by default. */
  readonly replies?: ReplyOptions;
  /** The facts of this process that `runtime.started` and the runs of agents tell. */
  readonly about?: {
    readonly version?: string;
    readonly pid?: number;
    readonly workspaceDir?: string;
    readonly config?: Readonly<Record<string, unknown>>;
  };
  /** Told of each message when it is done with, however it ended. */
  readonly onMessageEnd?: (end: MessageEnd) => void;
  /** Told of each session event of each turn. */
  readonly onEvent?: AgentTurnCallbacks['onEvent'];
  /** Asked about sends of which nobody knows whether they went through, of channels whose policy is `ask`. */
  readonly onAmbiguousSend?: (send: {
    readonly channel: string;
    readonly accountId: string;
    readonly idempotencyKey: string;
    readonly attempt: number;
    readonly reason: string;
  }) => Promise<'resend' | 'fail'>;
}

declare module '@sluice/sdk/extension' {
  interface Provisions {
    /** Routes may choose it. */
    agent: AgentDefinition;
  }
}

/** The things that people see of a turn besides its answers, and how its answers are cut. */
export type ReplyOptions = Pick<
  AgentTurnCallbacks,
  'verboseLevel' | 'reasoningMode' | 'blockReplyBreak' | 'blockReplyChunking'
>;
