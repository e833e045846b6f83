/** The shapes of OpenClaw's plugin hooks, profile 2026.3: what a handler is called with, and what it may return. */

/** The context of every hook of an agent run. */
export interface LegacyAgentContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  messageProvider?: string;
  trigger?: string;
  channelId?: string;
}

/** The context of the message hooks. */
export interface LegacyMessageContext {
  channelId: string;
  accountId?: string;
  conversationId?: string;
}

/** On whose behalf a tool is called, as OpenClaw 2026.9 has it; absent if nothing is proven. */
export interface LegacyRequester {
  readonly channel?: string;
  readonly accountId?: string;
  readonly senderId?: string;
  readonly senderIsOwner?: boolean;
  readonly roleIds?: readonly string[];
}

/** The context of the tool hooks. */
export interface LegacyToolContext {
  toolName: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  runId?: string;
  toolCallId?: string;
  requester?: LegacyRequester;
}

/** The context of `tool_result_persist`. */
export interface LegacyToolResultContext {
  agentId?: string;
  sessionKey?: string;
  toolName?: string;
  toolCallId?: string;
}

/** The context of `before_message_write`. */
export interface LegacyWriteContext {
  agentId?: string;
  sessionKey?: string;
}

/** The context of the session hooks. */
export interface LegacySessionContext {
  sessionId: string;
  agentId?: string;
  sessionKey?: string;
}

/** The context of the subagent hooks. */
export interface LegacySubagentContext {
  runId?: string;
  childSessionKey?: string;
  requesterSessionKey?: string;
}

/** The context of the gateway hooks. */
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

/** The result of `before_model_resolve`. */
export interface LegacyModelResult {
  modelOverride?: string;
  providerOverride?: string;
}

/** The result of `before_prompt_build`. */
export interface LegacyPromptResult {
  systemPrompt?: string;
  prependContext?: string;
  prependSystemContext?: string;
  appendSystemContext?: string;
}
