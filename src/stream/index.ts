export type { AgentEventPayload, AgentEventStream } from './agent-event.js';
export type { AgentTrigger } from './agent-trigger.js';
export type { ChannelCapabilities } from './channel-capabilities.js';
export { isSessionMessage, type TranscriptEntry } from './is-session-message.js';
export { readLines } from './lines.js';
export type {
  AgentProvider,
  AgentRequest,
  PromptAttachment,
  SessionContext,
  ToolCall,
  ToolDecision,
  ToolGate,
} from './provider.js';
export type {
  AgentEnd,
  AgentStart,
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
