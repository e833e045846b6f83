import type { Clock, Kernel, Logger, Outcome } from '../kernel/index.js';
import type {
  AgentProvider,
  PromptAttachment,
  RunError,
  RunReport,
  RunSession,
  SessionContext,
  SessionEvent,
  TrailRefs,
  TranscriptEntry,
} from '../stream/index.js';

/** The session that a turn belongs to. */
export interface AgentSession extends RunSession, Partial<SessionContext> {
  /** The transcript so far, oldest first. */
  readonly history: readonly TranscriptEntry[];
  /** Writes a message that `transcript.message.writing` passed. A rejection fails the turn: nothing is lost unseen. */
  append(message: TranscriptEntry): void | Promise<void>;
}

/** What the agent is asked. */
export interface AgentMessage {
  readonly text: string;
  readonly attachments?: readonly PromptAttachment[];
  /** The channel that it came by. */
  readonly channel?: string;
  readonly provider?: string;
}

/** What a host may listen to while a turn runs. */
export interface AgentTurnCallbacks {
  /** Each session event, after the pipeline has had it. Awaited. One that throws is logged and stops nothing. */
  readonly onEvent?: (event: SessionEvent) => void | Promise<void>;
}

/** What a turn is run with. */
export interface AgentTurnOptions {
  readonly kernel: Kernel;
  /** The provider that answers unless `agent.model.resolving` says otherwise. */
  readonly provider: AgentProvider;
  /** Every provider on offer; the one above alone where unsaid. */
  readonly providers?: readonly AgentProvider[];
  /** The model to use unless `agent.model.resolving` says otherwise; the provider's first where unsaid. */
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly session: AgentSession;
  readonly message: AgentMessage;
  /** Names the run in every event of it. */
  readonly runId: string;
  /** What started it: user, heartbeat, cron, ...; `user` where unsaid. */
  readonly trigger?: string;
  readonly workspaceDir?: string;
  /** The dispatch that the turn follows: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** What every dispatch of the turn carries besides. */
  readonly refs?: TrailRefs;
  readonly callbacks?: AgentTurnCallbacks;
  /** Stops the turn. */
  readonly signal?: AbortSignal;
  /** Milliseconds that the provider has to end by itself when stopped; 1 000 where unsaid. */
  readonly graceMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** Why a turn failed. */
export interface AgentTurnError extends RunError {}

/** How a turn went. */
export interface AgentTurnResult extends RunReport {
  readonly runId: string;
}
