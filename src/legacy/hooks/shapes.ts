/** The shapes of OpenClaw's plugin hooks, profile 2026.3: what a handler is called with, and what it may return. */

/** What every hook of an agent run is told of it. */
export interface LegacyAgentContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  messageProvider?: string;
  trigger?: string;
  channelId?: string;
}

/** What the message hooks are told. */
export interface LegacyMessageContext {
  channelId: string;
  accountId?: string;
  conversationId?: string;
}

/** What the tool hooks are told. */
export interface LegacyToolContext {
  toolName: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  runId?: string;
  toolCallId?: string;
}

/** What `tool_result_persist` is told. */
export interface LegacyToolResultContext {
  agentId?: string;
  sessionKey?: string;
  toolName?: string;
  toolCallId?: string;
}

/** What `before_message_write` is told. */
export interface LegacyWriteContext {
  agentId?: string;
  sessionKey?: string;
}

/** What the session hooks are told. */
export interface LegacySessionContext {
  sessionId: string;
  agentId?: string;
  sessionKey?: string;
}

/** What the subagent hooks are told. */
export interface LegacySubagentContext {
  runId?: string;
  childSessionKey?: string;
  requesterSessionKey?: string;
}

/** What the gateway hooks are told. */
export interface LegacyGatewayContext {
  port?: number;
}

/** A place in a channel, in the legacy names. */
export interface LegacyPlace {
  channel?: string;
  accountId?: string;
  to?: string;
  threadId?: string | number;
}

/** A transcript message: passed by reference, in its agent's own format. */
export interface LegacyAgentMessage {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

/** What `before_model_resolve` may return. */
export interface LegacyModelResult {
  modelOverride?: string;
  providerOverride?: string;
}

/** What `before_prompt_build` may return. */
export interface LegacyPromptResult {
  systemPrompt?: string;
  prependContext?: string;
  prependSystemContext?: string;
  appendSystemContext?: string;
}
