import type { AgentRetry, AgentTurnCallbacks } from '@sluice/agent';
import type { Journal, MessageEnd, Store } from '@sluice/journal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { Extension, ExtensionSet } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { Clock, Kernel, KernelOptions, Logger } from 'sluice-kernel';
import type { CancelTexts, FailureTextOption } from '../config/failure-text.js';
import type { ChatCommand } from '../provided/chat-commands.js';
import type { HostPlugin } from '../provided/plugins.js';
import type { RolesOf, RoleTable } from '../provided/roles.js';
import type { DispatchTapOptions } from '../timeline/dispatch-tap.js';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';
import type { HistoryBounds } from '../transcript/history.js';

/** Milliseconds that a turn may take where its agent does not say: ten minutes. */
export const usualTurnMs = 600_000;

/** Milliseconds that one send may take if the options do not say: one minute. */
export const usualSendMs = 60_000;

/** Characters of an update that a journal keeps if the options do not say. */
export const usualUpdateLength = 1_048_576;

/** The longest `joinWithinMs`: ten times as long is the longest wait of a message. */
export const longestJoinWithinMs = 60_000;

/** An agent that the host offers. */
export interface AgentDefinition {
  /** The name that routes choose it by. */
  readonly id: string;
  readonly provider: AgentProvider;
  /** By default the first model of the provider. */
  readonly model?: string;
  readonly systemPrompt?: string;
  /** The retries when its provider fails; none by default. */
  readonly retry?: AgentRetry;
  /** Milliseconds that one of its turns may take, all attempts together; by default 600 000 (ten minutes), `false` for no end. */
  readonly timeoutMs?: number | false;
  /** Turns of it that run at once, of all conversations; by default as many as the host runs. */
  readonly maxRunning?: number;
}

/** An extension to load, or the module that it is in, with its configuration as it was written. */
export type HostExtension = (
  | { readonly extension: Extension }
  /** A path or a package name, read from a folder, by default from the working folder. */
  | { readonly module: string; readonly from?: string }
) & {
  readonly config?: unknown;
  /** The host does not start without it: a guard that is missing would leave a door open. `start` rejects with why. */
  readonly required?: boolean;
};

/** A send of which nobody knows whether it went through. */
export interface AmbiguousSend {
  readonly channel: string;
  readonly accountId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly reason: string;
}

/** How humans are asked whether something may happen (judgement §4). */
export interface ApprovalOptions {
  /** The conversation that all questions go to; by default each goes to the conversation of its message. */
  readonly to?: {
    readonly channel: string;
    readonly accountId?: string;
    readonly to: string;
    readonly threadId?: string | number;
  };
  /** Milliseconds that a question has if its asker does not say; by default 3 600 000 (one hour), at most a day. */
  readonly timeoutMs?: number;
  /** Takes secrets out of what people are shown; by default none. Values of fields with the name of a secret are never shown. */
  readonly clean?: (text: string) => string;
}

/** The options of a host. */
export interface HostOptions {
  /**
   * The agents on offer. The first is the default, unless `defaultAgentId` says otherwise: the id of one of them, or of one that
   * an extension provides.
   */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgentId?: string;
  /** Providers that `agent.model.resolving` may choose besides those of the agents. */
  readonly providers?: readonly AgentProvider[];
  /** Channels beside those that extensions provide; by default none. */
  readonly channels?: readonly ChannelPlugin[];
  /** The ids of the channels to start, where not all are that extensions provide. Those of plugins only send, and stay. */
  readonly startOnly?: readonly string[];
  /**
   * Extensions to load, or a set of the same `kernel` that somebody else has loaded: then whoever did disposes it. A set
   * that was given no `host` uses the stores and folders of this one from its start on.
   */
  readonly extensions?: readonly HostExtension[] | ExtensionSet;
  /** Milliseconds that messages under way have when extensions are reloaded; by default 10 000. */
  readonly reloadTimeoutMs?: number;
  /**
   * Plugins, loaded into the same `kernel`. The host starts and stops their services, answers their commands
   * and sends by their channels; whoever loaded them disposes them.
   */
  readonly plugins?: readonly HostPlugin[];
  /** Chat commands besides `/new`, `/stop` and `/help`. */
  readonly commands?: readonly ChatCommand[];
  /** A kernel that somebody else owns: it is not closed. Else the host makes one of `kernelOptions`. */
  readonly kernel?: Kernel;
  /** The options of the host's own kernel; `tap` sees every dispatch. */
  readonly kernelOptions?: KernelOptions;
  readonly store?: Store;
  /** The part of their sessions that agents get. */
  readonly session?: {
    /** How much of the transcript a turn is given; the transcript itself stays whole. */
    readonly history?: HistoryBounds;
  };
  /**
   * Keeps updates and sends, so that they outlive the process (spec/durability.md). The host closes it. If absent, the host
   * keeps in memory what has not ended (`memoryJournal`), and acknowledges each update at its end.
   */
  readonly journal?: Journal;
  /** `false`: who opened the journal closes it. */
  readonly closesJournal?: boolean;
  /**
   * The folder in which extensions keep files, each in a folder of its own: `FILE-state` beside the file of the journal where
   * unsaid. Without such a file it is a temporary one, which is removed when the host stops.
   */
  readonly stateDir?: string;
  /** The part of each dispatch of the host's own kernel that the journal gets; `false` is none. A given `kernel` has its own tap. */
  readonly journalDispatches?: DispatchTapOptions | false;
  /**
   * Hears each entry of the timelines of messages (sight §1). If absent, the host makes one, which writes to the journal what
   * `journalDispatches` says. One that is given writes nothing by itself: `timeline.listen(keepTimeline(journal))`.
   */
  readonly timeline?: TimelineRecorder;
  /** @deprecated Use `timeline`. */
  readonly way?: TimelineRecorder;
  /** How often a message may be begun if each time the host dies before the end of the message; by default 3. Then it is a dead letter. */
  readonly maxAttempts?: number;
  /**
   * Milliseconds that a host runs before it begins a message for the last time that it may be begun; by default 1 000. So
   * hosts that end soon, for whatever reason, use up no last attempt.
   */
  readonly lastAttemptAfterMs?: number;
  /** Characters that an update may have for the journal to keep its body; by default 1 048 576. */
  readonly maxUpdateLength?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Makes the ids of sessions and runs; by default random ones. */
  readonly newId?: (kind: 'session' | 'run') => string;
  /** Told of each message when it is done with, however it ended. */
  readonly onMessageEnd?: (end: MessageEnd) => void;
  /** The things that people see of a turn besides its answers; none by default. */
  readonly replies?: ReplyOptions;
  /** Told of each session event of each turn. */
  readonly onEvent?: AgentTurnCallbacks['onEvent'];
  /** Asked about ambiguous sends of channels whose policy is `ask`. */
  readonly onAmbiguousSend?: (send: AmbiguousSend) => Promise<'resend' | 'fail'>;
  /** The text for the sender of a message that could not be answered; by default a text that names the code of the failure. */
  readonly failureText?: FailureTextOption;
  /** The roles of senders that channels have proven: a table, or a lookup of your own (judgement §1.6). */
  readonly roles?: RoleTable | RolesOf;
  /** By the code of a cancel, the text for the sender of the message (event-pipeline §16.20). By default the veto's reply. */
  readonly cancelText?: CancelTexts;
  /** Milliseconds that one send may take before it counts as ambiguous; by default 60 000. */
  readonly sendTimeoutMs?: number;
  /** Messages that run at once, of all conversations; by default 64. The others wait, first come first served. */
  readonly maxRunning?: number;
  /** Messages of one conversation that may run and wait before it is full; by default 100. */
  readonly laneCapacity?: number;
  /** Messages of all conversations together that may run and wait before the host is full; by default 10 000. */
  readonly capacity?: number;
  /**
   * The fate of a message whose conversation, or the host, is full: its sender is told so (`refuse`), nobody is (`drop`),
   * or its channel waits (`wait`), and takes nothing in meanwhile. By default a channel that can wait does. A message of another
   * channel waits in the journal, or is refused if the journal does not outlive the host (durability §8.2).
   */
  readonly whenLaneFull?: 'refuse' | 'drop' | 'wait';
  /** How messages come in. */
  readonly ingress?: {
    /**
     * Milliseconds that a message waits for the next one of its sender, so that one turn answers both: by `channel`, or by
     * `channel/account`, from 0 to 60 000. By default none waits (durability §10).
     */
    readonly joinWithinMs?: Readonly<Record<string, number>>;
  };
  /** How humans are asked before something happens. */
  readonly approvals?: ApprovalOptions;
  /** The facts of this process that `runtime.started` and the runs of agents tell. */
  readonly about?: {
    readonly version?: string;
    readonly pid?: number;
    readonly workspaceDir?: string;
    readonly config?: Readonly<Record<string, unknown>>;
  };
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
