import './errors.js'; // merges the codes of this layer into ErrorCode

export { Trail, type TrailRefs, whyNot } from '../stream/index.js';
export { type ActiveRun, ActiveRuns } from './active-runs.js';
export { claudeProvider } from './claude.js';
export type { ClaudeProviderOptions } from './claude-options.js';
export {
  type ClaudePermissionMode,
  type ClaudeQuery,
  type ClaudeQueryOptions,
  type ClaudeRun,
  loadClaudeSdk,
} from './claude-sdk.js';
export { cutOff } from './cut-off.js';
export { echoProvider } from './echo.js';
export { chooseModel, type ModelChoice, type ModelWish } from './model.js';
export { type ComposedPrompt, composePrompt } from './prompt.js';
export { readRecording, replayProvider } from './replay.js';
export { createReplyCallbacks } from './reply/create-reply-callbacks.js';
export type { ReplyCallbacks } from './reply/reply-callbacks.js';
export type {
  BlockReplyBreak,
  BlockReplyChunking,
  CompactionHooks,
  FinishedToolCall,
  ReasoningMode,
  ReplyCallbackFunctions,
  ReplyCallbackOptions,
  ReplyWording,
  ToolTraits,
  VerboseLevel,
} from './reply/reply-options.js';
export type {
  AgentEventRecord,
  AgentEventReport,
  BlockReply,
  PartialReply,
  ReplyEventStream,
  ToolResultReply,
} from './reply/reply-payload.js';
export type { MessagingTarget } from './reply/tools/messaging-sends.js';
export type { ToolFailure } from './reply/tools/tool-failures.js';
export type { ToolMeta } from './reply/tools/tool-replies.js';
export type { UsageTotals } from './reply/usage-totals.js';
export { runAgentTurn } from './turn.js';
export type { AgentTurnCallbacks } from './turn-callbacks.js';
export type {
  AgentAttempt,
  AgentMessage,
  AgentRetry,
  AgentSession,
  AgentTurnError,
  AgentTurnOptions,
  AgentTurnResult,
  ModelRef,
  ProviderSessions,
} from './turn-options.js';
