/** The text so far, of a message or of its thoughts. */
export interface PartialReply {
  readonly text: string;
  readonly mediaUrls?: readonly string[];
}

/** A finished piece of a reply. */
export interface BlockReply {
  readonly text: string;
  readonly mediaUrls?: readonly string[];
  /** The media are to be sent as a voice message. */
  readonly audioAsVoice?: true;
  /** It is what the model thought, not what it says. */
  readonly isReasoning?: true;
  /** The message that it answers, by id. */
  readonly replyToId?: string;
  /** The model said which message it answers. */
  readonly replyToTag?: boolean;
  /** It answers the message that started the run. */
  readonly replyToCurrent?: boolean;
}

/** The part of a tool's work that people see. */
export interface ToolResultReply {
  readonly text?: string;
  readonly mediaUrls?: readonly string[];
  /** Further data for a channel, by name. */
  readonly channelData?: Readonly<Record<string, unknown>>;
}

/** The streams of a run's events. */
export type ReplyEventStream = 'lifecycle' | 'assistant' | 'thinking' | 'tool' | 'compaction';

/** An event of a run, for `onAgentEvent`. */
export interface AgentEventReport {
  readonly stream: ReplyEventStream;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event of a run, with all of its data. */
export interface AgentEventRecord extends AgentEventReport {
  readonly runId: string;
  readonly sessionKey?: string;
}
