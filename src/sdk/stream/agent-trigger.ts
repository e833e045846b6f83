/**
 * The trigger of an answer, for a provider with its own sessions (seed 003): the message, its sender and its source.
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
    /** The reaction, if `type` is `reaction`. */
    readonly emoji?: string;
    readonly referencedMessageId?: string;
  };
  /** The session to answer in; if it is empty, the chat's id serves. */
  readonly sessionId: string;
  readonly traceId?: string;
  /** Stops the run. */
  readonly signal?: AbortSignal;
  /** The same by the name that Omni gives it: either of the two stops the run. */
  readonly abortSignal?: AbortSignal;
}

/** One signal of all that may stop the run of a trigger. */
export function stopOf({ signal, abortSignal }: AgentTrigger, more?: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, abortSignal, more].filter((one) => one !== undefined));
}
