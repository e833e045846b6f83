import type { AssistantMessage } from '@sluice/sdk/stream';
import type { Logger } from 'sluice-kernel';
import type {
  AgentEventRecord,
  AgentEventReport,
  BlockReply,
  PartialReply,
  ToolResultReply,
} from './reply-payload.js';

/** How much of the tools' work is shown: nothing, a line for each call, or their output too. */
type VerboseLevel = 'off' | 'on' | 'full';

/** How a model's thoughts are shown: not at all, as one block for each message, or as they come. */
type ReasoningMode = 'off' | 'on' | 'stream';

/** When a block reply is complete: where a text ends, or where the message does. */
type BlockReplyBreak = 'text_end' | 'message_end';

/** How long texts are cut into block replies. */
export interface BlockReplyChunking {
  /** In UTF-16 code units. No block is shorter but the last. */
  readonly minChars: number;
  /** In UTF-16 code units. Signs that close and open a cut code block come on top. */
  readonly maxChars: number;
  /** The place to cut first of all; `paragraph` by default. */
  readonly breakPreference?: 'paragraph' | 'newline' | 'sentence';
  /** Each paragraph is a block of its own, however short. */
  readonly flushOnParagraph?: boolean;
}

/**
 * Callbacks that tell people of a run while it goes on. Each may be async. One that throws is logged and stops
 * nothing.
 */
export interface ReplyCallbackFunctions {
  /** A message of the model begins. */
  readonly onAssistantMessageStart?: () => unknown;
  /** The text of the message so far. It only ever grows. */
  readonly onPartialReply?: (reply: PartialReply) => unknown;
  /** A finished piece of the reply. */
  readonly onBlockReply?: (reply: BlockReply) => unknown;
  /** A tool is about to run: everything that was handed over must be out first. Awaited. */
  readonly onBlockReplyFlush?: () => unknown;
  /** The thoughts of the message so far, in reasoning mode `stream`. */
  readonly onReasoningStream?: (reply: PartialReply) => unknown;
  /** The model has stopped thinking. In every reasoning mode. */
  readonly onReasoningEnd?: () => unknown;
  /** The call of a tool, its output, or its media. */
  readonly onToolResult?: (reply: ToolResultReply) => unknown;
  /** An event of the run, without the arguments and results of tools. */
  readonly onAgentEvent?: (event: AgentEventReport) => unknown;
}

/** Hooks that hear of compactions. */
interface CompactionHooks {
  /** The agent began to make room. Not awaited. */
  readonly onBeforeCompaction?: () => unknown;
  /** It has made room, and does not try again. Not awaited. */
  readonly onAfterCompaction?: (result: { readonly compactedCount: number }) => unknown;
}

/** A finished tool call, for `onAfterToolCall`. */
export interface FinishedToolCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: string;
  /** Milliseconds; absent if its start was not seen. */
  readonly durationMs?: number;
}

/** The words for people that are not the model's. */
export interface ReplyWording {
  /** Describes a call in a few words: a path, a command. */
  describeTool(toolName: string, args: unknown): string | undefined;
  /** The line that names a call. */
  summarizeTool(toolName: string, description: string | undefined, markdown: boolean): string;
  /** Stands at the end of an output that was cut. */
  readonly cutMark: string;
  /** The text that people read if a message ended with an error. */
  formatAssistantErrorText(message: AssistantMessage): string | undefined;
  /**
   * Words the text of a message that ended with an error: a provider's own error stands in it.
   *
   * @returns what people read instead, or `undefined` if the text may be shown as it is.
   */
  formatErroredText(text: string): string | undefined;
  /** The question for people if a tool wants their approval. The run's own texts are then held back. */
  formatApproval(toolName: string, result: unknown): ToolResultReply | undefined;
}

/** The traits of tools that a reply depends on. */
export interface ToolTraits {
  /** The name that a tool goes by. */
  normalizeName(toolName: string): string;
  /** Media at a path of this machine may be sent where the tool names them. */
  mayNameFiles(toolName: string): boolean;
  /**
   * Returns whether a call changes something, and marks the action: its failure stands until the same action succeeds.
   */
  mutationOf(
    toolName: string,
    args: unknown,
    description: string | undefined,
  ): { readonly mutatingAction: boolean; readonly actionFingerprint?: string };
}

/** The options of `createReplyCallbacks`. */
export interface ReplyCallbackOptions extends ReplyCallbackFunctions, CompactionHooks {
  readonly runId: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  /** `off` by default. */
  readonly verboseLevel?: VerboseLevel;
  /** `off` by default. */
  readonly reasoningMode?: ReasoningMode;
  /** `markdown` by default. */
  readonly toolResultFormat?: 'markdown' | 'plain';
  /** Asked for each call instead of the verbose level. */
  readonly shouldEmitToolResult?: () => boolean;
  /** Asked for each call instead of the verbose level. */
  readonly shouldEmitToolOutput?: () => boolean;
  /** `text_end` by default. */
  readonly blockReplyBreak?: BlockReplyBreak;
  /** Texts are not cut by default. */
  readonly blockReplyChunking?: BlockReplyChunking;
  /** Only what stands between final tags is shown. */
  readonly enforceFinalTag?: boolean;
  /**
   * `seed` by default: partial replies before agent events, a block reply before the flush of the same event, and the compaction
   * hook before its event (seed 001). `openclaw`: each of the three the other way round.
   */
  readonly order?: 'openclaw' | 'seed';
  /** A tool call is over. Not awaited. */
  readonly onAfterToolCall?: (call: FinishedToolCall) => unknown;
  /** The agent event with all of its data, before `onAgentEvent` has it without. */
  readonly emitAgentEvent?: (event: AgentEventRecord) => void;
  readonly wording?: Partial<ReplyWording>;
  readonly tools?: Partial<ToolTraits>;
  /** Each session event and each callback is logged at `debug`, with the run and the session. */
  readonly logger?: Logger;
  /** Milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}
