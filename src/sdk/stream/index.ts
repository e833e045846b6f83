import './errors.js'; // merges the codes of this layer into ErrorCode

export type { AgentAnswer } from './agent-answer.js';
export type { AgentEventPayload, AgentEventStream } from './agent-event.js';
export type { AgentTrigger } from './agent-trigger.js';
export type { ChannelCapabilities, InteractiveElement } from './channel-capabilities.js';
export { leavable, type Waiting } from './flow/leavable.js';
export { readLines } from './flow/lines.js';
export { hasReachedAgent, unreachedError } from './flow/unreached.js';
export * from './is-session-message.js';
export { MessageWriter } from './message-writer.js';
export { modelMessages } from './prompt/model-history.js';
export { promptText } from './prompt/prompt-text.js';
export type { Around } from './prompt/surroundings.js';
export type * from './provider.js';
export type * from './session-event.js';
export * from './session-message.js';
export type { StreamDelta, StreamSender } from './stream-delta.js';
export type * from './subagent-fact.js';
export type * from './tool/agent-tool.js';
export type { ToolCall, ToolDecision, ToolGate } from './tool/tool-call.js';
