import type {
  AgentProvider,
  Around,
  PromptAttachment,
  SessionContext,
  ToolDefinition,
  TranscriptEntry,
} from '@sluice/sdk/stream';
import type { Clock, Given, Kernel, Logger, Outcome } from 'sluice-kernel';
import type { Approvals, RunReport, RunSession, TrailRefs } from '../run/index.js';
import type { ActiveRuns } from './active-runs.js';
import type { AgentTurnCallbacks } from './turn-callbacks.js';
import type { TurnPauses } from './turn-pauses.js';

/** The session that a turn belongs to. */
export interface AgentSession extends RunSession, Partial<SessionContext> {
  /** The transcript so far, oldest first, or as much of its end as the agent is to get. */
  readonly history: readonly TranscriptEntry[];
  /**
   * The messages after `history` of a turn that was asked the same, and was cut off by the end of its process. The
   * prompt is the first, unless it was not written. Absent if the message is new.
   */
  readonly begun?: readonly TranscriptEntry[];
  /** Returns whether a person was asked about a call in `begun`, by its id. Without a result it is made again (judgement §4.34). */
  isAsked?(toolCallId: string): boolean;
  /** The texts that providers had kept with the session, by their ids. */
  readonly providerSessions?: ProviderSessions;
  /** Writes a message that `transcript.message.writing` passed. A rejection fails the turn: nothing is lost unseen. */
  append(message: TranscriptEntry): void | Promise<void>;
  /**
   * Resolves when all that was appended is kept. No tool that asks the gate runs before. A rejection fails the turn. Absent if
   * `append` itself waits for that.
   */
  kept?(): Promise<void>;
}

/** The texts that providers have kept with a session, by their ids. */
export type ProviderSessions = Readonly<Record<string, string>>;

/** The message that the agent is asked. */
interface AgentMessage {
  readonly text: string;
  readonly attachments?: readonly PromptAttachment[];
  /** The channel that it came by. */
  readonly channel?: string;
  readonly provider?: string;
  /** Its writer, and what stands around it. An agent reads it before the text (spec §15.13). */
  readonly about?: Around;
}

/** A model, and the provider that offers it. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** One attempt of a turn: how it went, and what it was made with. */
export interface AgentAttempt extends RunReport {
  /** From 1. */
  readonly attempt: number;
  /** The model that was called; absent if the attempt ended before, or if a handler answered in its place. */
  readonly model?: ModelRef;
  /** Tool calls that began, whatever became of them. */
  readonly toolCalls: number;
}

/** The policy for an attempt whose provider failed or said nothing. No other failure gets better by being repeated. */
export interface AgentRetry {
  /** Attempts in all, the first included; one more than there are fallbacks by default. */
  readonly maxAttempts?: number;
  /**
   * The models of the second attempt and those after it, in order; then the last of them again. Without any, the
   * model that was resolved is called again. One that nobody offers is passed over, and logged.
   */
  readonly fallbacks?: readonly ModelRef[];
  /**
   * Decides about another attempt. It may wait before it answers; an abort ends the wait. By default there is another
   * attempt if the failed one has said nothing and called no tool, so that nothing happens twice.
   */
  readonly shouldRetry?: (failed: AgentAttempt) => boolean | Promise<boolean>;
  /**
   * Milliseconds that another attempt with the same model waits at most, if the provider has said when it may be asked again
   * (`retryAfterMs` of the error); 60 000 by default. If that is later, there is none.
   */
  readonly maxWaitMs?: number;
}

/** The options of a turn. */
export interface AgentTurnOptions {
  readonly kernel: Kernel;
  /** The provider that answers unless `agent.model.resolving` says otherwise. */
  readonly provider: AgentProvider;
  /** Every provider on offer; the one above alone by default. */
  readonly providers?: readonly AgentProvider[];
  /** The model to use unless `agent.model.resolving` says otherwise; the provider's first by default. */
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly session: AgentSession;
  readonly message: AgentMessage;
  /** Names the run in every event of it. */
  readonly runId: string;
  /** The trigger of the turn: user, heartbeat, cron, ...; `user` by default. */
  readonly trigger?: string;
  readonly workspaceDir?: string;
  /** The dispatch that the turn follows: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** Further refs of every dispatch of the turn. */
  readonly refs?: TrailRefs;
  readonly callbacks?: AgentTurnCallbacks;
  readonly retry?: AgentRetry;
  /**
   * An attempt whose model ends well without a text, a file or a tool call has failed as `said-nothing` (spec §16.28). The text
   * `NO_REPLY` says that this is meant. It needs reply callbacks. By default such an attempt is completed, as in the live system.
   */
  readonly mustAnswer?: boolean;
  /** Asks humans what vetoes ask about. Without it, a call that a veto asks about is refused. */
  readonly approvals?: Approvals;
  /** The tools of the host for a provider. It is asked before each attempt, and only about a provider that takes tools. */
  readonly tools?: (provider: AgentProvider) => readonly ToolDefinition[];
  /** Lists the turn while it runs. */
  readonly active?: Pick<ActiveRuns, 'begin'>;
  /** Stops the turn. */
  readonly signal?: Given['signal'];
  /**
   * Milliseconds that the turn may take, all attempts together, before it is stopped as `timed-out`; no end by
   * default.
   */
  readonly timeoutMs?: number;
  /** The times in which it waits for a person: they do not count. */
  readonly pauses?: TurnPauses;
  /** Milliseconds that the provider and the callbacks have to end by themselves when stopped; 1 000 by default. */
  readonly graceMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** How a turn went: as its last attempt did. What was written, the usage and the time are those of all attempts. */
export interface AgentTurnResult extends RunReport {
  readonly runId: string;
  readonly attempts: readonly AgentAttempt[];
  /** The texts to keep with the session for its next turn: those kept before, with the changes of providers. */
  readonly providerSessions: ProviderSessions;
  /** The texts as the reply callbacks have cleaned them; absent if the turn had none. */
  readonly replyTexts?: readonly string[];
}
