/** A piece of text in a message. */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** A thought of a model. If the provider hides it, the text is empty and the signature stands for it. */
export interface ThinkingContent {
  readonly type: 'thinking';
  readonly thinking: string;
  /** The provider's proof of it, to be handed back byte for byte. */
  readonly thinkingSignature?: string;
  readonly redacted?: boolean;
}

/** A model's wish to call a tool. */
export interface ToolCallContent {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The words in which a provider tells of its own failure, in a transcript: for operators, and never for a chat. */
export interface ErrorContent {
  readonly type: 'error';
  readonly error: string;
}

/** A block of an assistant message. */
export type AssistantContent = TextContent | ThinkingContent | ToolCallContent | ErrorContent;

/** Tokens and money of one message or run, in the counts that session events use. */
export interface SessionUsage {
  /** Tokens read, without those from the cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  /** US dollars, if the provider says. */
  readonly costUsd?: number;
}

/** The reason why an assistant message ended. */
export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

/** The words of a person, or of the host for a person. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
  /** The text that tells an agent what stood around it; in an agent's request it is part of the content. */
  readonly surroundings?: string;
  /** Milliseconds since 1970. */
  readonly timestamp?: number;
}

/** A failure at a model's provider. */
export interface ProviderError {
  /** The kind of failure, as the agent names it, such as `rate_limit` or `server_error`; `unknown` if it has no name. */
  readonly code: string;
  /** The HTTP status, if there was a response. */
  readonly httpStatus?: number;
}

/** One message of a model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantContent[];
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: SessionUsage;
  readonly stopReason?: StopReason;
  readonly errorMessage?: string;
  /**
   * Set if the text is no answer of the model: the agent tells in it that the model's provider failed. Such a text may
   * hold addresses and ids. It is for operators, and never goes to a chat. Known from `message_start` on. The transcript
   * holds the text as a block of the kind `error`; one of an older version has it as `text`.
   */
  readonly providerError?: ProviderError;
  /** Milliseconds since 1970. */
  readonly timestamp?: number;
}

/** The answer of a tool. */
export interface ToolResultMessage {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly TextContent[];
  readonly isError: boolean;
  /** The answer in the tool's own shape. */
  readonly details?: unknown;
  /** Milliseconds since 1970. */
  readonly timestamp?: number;
}

/** A message of a session's transcript. */
export type SessionMessage = UserMessage | AssistantMessage | ToolResultMessage;

/**
 * Joins the text blocks of a message, which people see.
 *
 * @example
 * textOf({ role: 'assistant', content: [{ type: 'text', text: 'Lima.' }] }); // 'Lima.'
 */
export function textOf(message: SessionMessage): string {
  if (message.role === 'user') return message.content;
  let text = '';
  for (const block of message.content) if (block.type === 'text') text += block.text;
  return text;
}
