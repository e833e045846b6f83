import './errors.js'; // merges the codes of this layer into ErrorCode

export type { AgentAnswer } from './agent-answer.js';
export type { AgentEventPayload, AgentEventStream } from './agent-event.js';
export type { AgentTrigger } from './agent-trigger.js';
export type { ChannelCapabilities } from './channel-capabilities.js';
export { type TracedRun, traceEvent } from './event-trace.js';
export {
  isPrompt,
  isSessionMessage,
  type TranscriptEntry,
  type TranscriptSize,
} from './is-session-message.js';
export { leavable, type Waiting } from './leavable.js';
export { readLines } from './lines.js';
export type {
  AgentProvider,
  AgentRequest,
  PromptAttachment,
  SessionContext,
} from './provider.js';
export { Recent } from './recent.js';
export { driveRun, isRunDriven } from './run/driven-runs.js';
export type { RunFallback } from './run/run-bounds.js';
export {
  RunDispatcher,
  type RunDispatcherOptions,
  type RunProvider,
  type RunStop,
} from './run/run-dispatcher.js';
export { mustPass, RunFailure, whyNot } from './run/run-failure.js';
export type { RunError, RunFields, RunReport, RunSession } from './run/run-fields.js';
export { resultText } from './run/tool-calls.js';
export { Trail, type TrailRefs } from './run/trail.js';
export { addUsage } from './run/usage.js';
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
export { hasReachedAgent, unreachedError } from './unreached.js';
