import type { Logger } from '../../../kernel/index.js';
import type { AssistantMessage } from '../../../stream/index.js';
import type {
  AgentEventRecord,
  AgentEventReport,
  BlockReply,
  PartialReply,
  ToolResultReply,
} from './reply-payload.js';

/** How much of the tools' work is shown: nothing, a line for each call, or their output too. */
export type VerboseLevel = 'off' | 'on' | 'full';

/** Whether a model's thoughts are shown: not at all, as one block for each message, or as they come. */
export type ReasoningMode = 'off' | 'on' | 'stream';

/** When a block reply is complete: where a text ends, or where the message does. */
export type BlockReplyBreak = 'text_end' | 'message_end';

/** How long texts are cut into block replies. */
export interface BlockReplyChunking {
  /** In UTF-16 code units. No block is shorter but the last. */
  readonly minChars: number;
  /** In UTF-16 code units. Signs that close and open a cut code block come on top. */
  readonly maxChars: number;
  /** Where to cut first of all; `paragraph` where unsaid. */
  readonly breakPreference?: 'paragraph' | 'newline' | 'sentence';
  /** Each paragraph is a block of its own, however short. */
  readonly flushOnParagraph?: boolean;
}

/** What people are told of a run while it goes on. Each may be async; one that throws is logged and stops nothing. */
export interface ReplyCallbackFunctions {
  /** A message of the model begins. */
  readonly onAssistantMessageStart?: () => unknown;
  /** The text of the message so far. It only ever grows. */
  readonly onPartialReply?: (reply: PartialReply) => unknown;
  /** A finished piece of the reply. */
  readonly onBlockReply?: (reply: BlockReply) => unknown;
  /** What was handed over so far must be out before a tool runs. Awaited. */
  readonly onBlockReplyFlush?: () => unknown;
  /** The thoughts of the message so far, in reasoning mode `stream`. */
  readonly onReasoningStream?: (reply: PartialReply) => unknown;
  /** The model has stopped thinking. In every reasoning mode. */
  readonly onReasoningEnd?: () => unknown;
  /** What a tool does, its output, or media from it. */
  readonly onToolResult?: (reply: ToolResultReply) => unknown;
  /** What happens in the run, without what tools are called with and answer. */
  readonly onAgentEvent?: (event: AgentEventReport) => unknown;
}

/** What a compaction is told its hook with. */
export interface CompactionHooks {
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
  /** Milliseconds; absent where its start was not seen. */
  readonly durationMs?: number;
}

/** The words for people that are not the model's. */
export interface ReplyWording {
  /** What a call does, in a few words: a path, a command. */
  describeTool(toolName: string, args: unknown): string | undefined;
  /** The line that names a call. */
  summarizeTool(toolName: string, description: string | undefined, markdown: boolean): string;
  /** Stands at the end of an output that was cut. */
  readonly cutMark: string;
  /** What people read where a message ended with an error. */
  formatAssistantErrorText(message: AssistantMessage): string | undefined;
  /**
   * Words the text of a message that ended with an error: a provider's own error stands in it.
   *
   * @returns what people read instead, or `undefined` if the text may be shown as it is.
   */
  formatErroredText(text: string): string | undefined;
  /** What people are asked where a tool wants their approval. The run's own texts are then held back. */
  formatApproval(toolName: string, result: unknown): ToolResultReply | undefined;
}

/** What tools are, as far as a reply depends on it. */
export interface ToolTraits {
  /** The name that a tool goes by. */
  normalizeName(toolName: string): string;
  /** Media at a path of this machine may be sent where the tool names them. */
  mayNameFiles(toolName: string): boolean;
  /** Whether a call changes something, and what tells it from another: its failure stands until it succeeds. */
  mutationOf(
    toolName: string,
    args: unknown,
    description: string | undefined,
  ): { readonly mutatingAction: boolean; readonly actionFingerprint?: string };
}

/** What `createReplyCallbacks` is made with. */
export interface ReplyCallbackOptions extends ReplyCallbackFunctions, CompactionHooks {
  readonly runId: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  /** `off` where unsaid. */
  readonly verboseLevel?: VerboseLevel;
  /** `off` where unsaid. */
  readonly reasoningMode?: ReasoningMode;
  /** `markdown` where unsaid. */
  readonly toolResultFormat?: 'markdown' | 'plain';
  /** Asked for each call instead of the verbose level. */
  readonly shouldEmitToolResult?: () => boolean;
  /** Asked for each call instead of the verbose level. */
  readonly shouldEmitToolOutput?: () => boolean;
  /** `text_end` where unsaid. */
  readonly blockReplyBreak?: BlockReplyBreak;
  /** Texts are not cut where unsaid. */
  readonly blockReplyChunking?: BlockReplyChunking;
  /** Only what stands between final tags is shown. */
  readonly enforceFinalTag?: boolean;
  /**
   * `openclaw`, unless said: the order of the system that hosts come from. `seed`: partial replies before agent events,
   * a block reply in its place instead of after what else its event causes, and the compaction hook before its event.
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
  /** Milliseconds since 1970; the platform's where unsaid. */
  readonly now?: () => number;
}
