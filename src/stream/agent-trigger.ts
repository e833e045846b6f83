/**
 * What makes an agent answer, as a provider with its own sessions needs it (seed 003): the message, who sent it,
 * and where it came from.
 */
export interface AgentTrigger {
  readonly type: 'dm' | 'mention' | 'reply' | 'reaction' | 'command' | 'name_match';
  readonly source: {
    readonly channelType: string;
    /** The channel's account. */
    readonly instanceId: string;
    readonly chatId: string;
    readonly threadId?: string;
    readonly messageId: string;
  };
  readonly sender: {
    readonly platformUserId: string;
    readonly personId?: string;
    readonly displayName?: string;
  };
  readonly content: {
    readonly text?: string;
    /** The reaction, where `type` is `reaction`. */
    readonly emoji?: string;
    readonly referencedMessageId?: string;
  };
  /** The session to answer in; the chat's id serves where it is empty. */
  readonly sessionId: string;
  readonly traceId?: string;
  /** Stops the run. */
  readonly signal?: AbortSignal;
}
