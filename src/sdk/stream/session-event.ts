import type { AssistantMessage, SessionMessage, SessionUsage } from './session-message.js';

interface BlockEvent<Type extends string> {
  readonly type: Type;
  /**
   * The number of the block in the model's message, from 0. That counts blocks, too, which the session's message
   * cannot hold, such as the tools of the model's provider.
   */
  readonly contentIndex: number;
  /** The message so far. Live: all the events of one message share it, and it grows. */
  readonly partial: AssistantMessage;
}

interface BlockDelta<Type extends string> extends BlockEvent<Type> {
  /** The text that was added. */
  readonly delta: string;
}

interface BlockEnd<Type extends string> extends BlockEvent<Type> {
  /** The whole block: the sum of its deltas. */
  readonly content: string;
}

/** How a block of an assistant message grows. Narrow by `type`. */
export type AssistantMessageEvent =
  | BlockEvent<'text_start'>
  | BlockDelta<'text_delta'>
  | BlockEnd<'text_end'>
  | BlockEvent<'thinking_start'>
  | BlockDelta<'thinking_delta'>
  | BlockEnd<'thinking_end'>;

/** A run began. The first event, once. */
export interface AgentStart {
  readonly type: 'agent_start';
}

/** The note that another model answered than the one that was asked. */
export interface AnsweredBy {
  /** The model that was asked. */
  readonly fromModel: string;
  /** The model that answered. */
  readonly toModel: string;
  /** The reason in the agent's words. */
  readonly reason?: string;
}

/** A run ended. The last event, once. */
export interface AgentEnd {
  readonly type: 'agent_end';
  /** The messages that the run added. */
  readonly messages: readonly SessionMessage[];
  /** The error that ended it early; absent if it ended well. */
  readonly error?: { readonly subtype: string; readonly message: string };
  /** Someone stopped it. */
  readonly aborted?: boolean;
  readonly usage?: SessionUsage;
  /** Set if the agent itself went over to another model. */
  readonly fallback?: AnsweredBy;
}

/** A message of the model began. */
export interface MessageStart {
  readonly type: 'message_start';
  readonly message: AssistantMessage;
}

/** A message of the model grew. */
export interface MessageUpdate {
  readonly type: 'message_update';
  /** The message so far. Live, as `assistantMessageEvent.partial`. */
  readonly message: AssistantMessage;
  readonly assistantMessageEvent: AssistantMessageEvent;
}

/** A message of the model is whole. */
export interface MessageEnd {
  readonly type: 'message_end';
  readonly message: AssistantMessage;
}

/** A tool is about to run, or runs. */
export interface ToolExecutionStart {
  readonly type: 'tool_execution_start';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool has something to show before it is done. */
export interface ToolExecutionUpdate {
  readonly type: 'tool_execution_update';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly partialResult: unknown;
}

/** A tool has answered, failed, or was not allowed to run. */
export interface ToolExecutionEnd {
  readonly type: 'tool_execution_end';
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * The answer of the tool, and nothing around it. A text is written to the transcript as it is; anything else, also blocks or
   * a `ToolResultMessage`, as its JSON, which the model then reads in the next turn. Of a tool of `request.tools` the turn knows the answer
   * itself.
   */
  readonly result: unknown;
  readonly isError: boolean;
}

/** The agent began to make room in its context. */
export interface AutoCompactionStart {
  readonly type: 'auto_compaction_start';
  readonly reason: 'threshold' | 'overflow' | 'manual';
}

/** The agent has made room in its context, or could not. */
export interface AutoCompactionEnd {
  readonly type: 'auto_compaction_end';
  readonly result?: unknown;
  readonly aborted: boolean;
  /** It tries once more. */
  readonly willRetry: boolean;
  readonly errorMessage?: string;
}

/**
 * A report of an agent at work: the ten normalized types of seed 000. Narrow by `type`.
 *
 * Order: `agent_start` first, `agent_end` last; blocks within their message; a tool's start before its end.
 *
 * @example
 * if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta')
 *   process.stdout.write(event.assistantMessageEvent.delta);
 */
export type SessionEvent =
  | AgentStart
  | MessageStart
  | MessageUpdate
  | MessageEnd
  | ToolExecutionStart
  | ToolExecutionUpdate
  | ToolExecutionEnd
  | AutoCompactionStart
  | AutoCompactionEnd
  | AgentEnd;
