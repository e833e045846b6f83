import './errors.js'; // merges the codes of this layer into ErrorCode

export type { AgentAnswer } from './agent-answer.js';
export type { AgentEventPayload, AgentEventStream } from './agent-event.js';
export type { AgentTrigger } from './agent-trigger.js';
export type { ChannelCapabilities, InteractiveElement } from './channel-capabilities.js';
export { leavable, type Waiting } from './flow/leavable.js';
export { readLines } from './flow/lines.js';
export { hasReachedAgent, unreachedError } from './flow/unreached.js';
export {
  isPrompt,
  isSessionMessage,
  type TranscriptEntry,
  type TranscriptSize,
} from './is-session-message.js';
export type {
  AgentProvider,
  AgentRequest,
  PromptAttachment,
  SessionContext,
} from './provider.js';
export type {
  AgentEnd,
  AgentStart,
  AnsweredBy,
  AssistantMessageEvent,
  AutoCompactionEnd,
  AutoCompactionStart,
  MessageEnd,
  MessageStart,
  MessageUpdate,
  SessionEvent,
  ToolExecutionEnd,
  ToolExecutionStart,
  ToolExecutionUpdate,
} from './session-event.js';
export {
  type AssistantContent,
  type AssistantMessage,
  type ProviderError,
  type SessionMessage,
  type SessionUsage,
  type StopReason,
  type TextContent,
  type ThinkingContent,
  type ToolCallContent,
  type ToolResultMessage,
  textOf,
  type UserMessage,
} from './session-message.js';
export type { StreamDelta, StreamSender } from './stream-delta.js';
export type {
  RunningSubagent,
  SubagentAnswer,
  SubagentFact,
  SubagentStart,
  SubagentStatus,
  ToolEnd,
} from './subagent-fact.js';
export type { ToolCall, ToolDecision, ToolGate } from './tool-call.js';
