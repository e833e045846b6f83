/** The shapes of OpenClaw's plugin hooks, profile 2026.3: what a handler is called with, and what it may return. */

type Fields = Record<string, unknown>;

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

type SpawnEvent = {
  childSessionKey: string;
  agentId: string;
  label?: string;
  mode: 'run' | 'session';
  requester?: LegacyPlace;
  threadRequested: boolean;
};

interface Hook<Event, Context, Result = undefined> {
  readonly event: Event;
  readonly ctx: Context;
  readonly result: Result;
}

/**
 * Every plugin hook with the types of its event, its context and its result (`undefined` where nothing is read).
 *
 * @example
 * const veto = (event: LegacyEvent<'message_sending'>) => ({ cancel: event.content === '' });
 */
export interface LegacyHooks {
  before_model_resolve: Hook<{ prompt: string }, LegacyAgentContext, LegacyModelResult>;
  before_prompt_build: Hook<
    { prompt: string; messages: unknown[] },
    LegacyAgentContext,
    LegacyPromptResult
  >;
  before_agent_start: Hook<
    { prompt: string; messages?: unknown[] },
    LegacyAgentContext,
    LegacyModelResult & LegacyPromptResult
  >;
  llm_input: Hook<
    {
      runId: string;
      sessionId: string;
      provider: string;
      model: string;
      systemPrompt?: string;
      prompt: string;
      historyMessages: unknown[];
      imagesCount: number;
    },
    LegacyAgentContext
  >;
  llm_output: Hook<
    {
      runId: string;
      sessionId: string;
      provider: string;
      model: string;
      assistantTexts: string[];
      lastAssistant?: unknown;
      usage?: {
        input?: number;
        output?: number;
        cacheRead?: number;
        cacheWrite?: number;
        total?: number;
      };
    },
    LegacyAgentContext
  >;
  agent_end: Hook<
    { messages: unknown[]; success: boolean; error?: string; durationMs?: number },
    LegacyAgentContext
  >;
  before_compaction: Hook<
    {
      messageCount: number;
      compactingCount?: number;
      tokenCount?: number;
      messages?: unknown[];
      sessionFile?: string;
    },
    LegacyAgentContext
  >;
  after_compaction: Hook<
    { messageCount: number; tokenCount?: number; compactedCount: number; sessionFile?: string },
    LegacyAgentContext
  >;
  before_reset: Hook<
    { sessionFile?: string; messages?: unknown[]; reason?: string },
    LegacyAgentContext
  >;
  message_received: Hook<
    { from: string; content: string; timestamp?: number; metadata?: Fields },
    LegacyMessageContext
  >;
  message_sending: Hook<
    { to: string; content: string; metadata?: Fields },
    LegacyMessageContext,
    { content?: string; cancel?: boolean }
  >;
  message_sent: Hook<
    { to: string; content: string; success: boolean; error?: string },
    LegacyMessageContext
  >;
  before_tool_call: Hook<
    { toolName: string; params: Fields; runId?: string; toolCallId?: string },
    LegacyToolContext,
    { params?: Fields; block?: boolean; blockReason?: string }
  >;
  after_tool_call: Hook<
    {
      toolName: string;
      params: Fields;
      runId?: string;
      toolCallId?: string;
      result?: unknown;
      error?: string;
      durationMs?: number;
    },
    LegacyToolContext
  >;
  tool_result_persist: Hook<
    {
      toolName?: string;
      toolCallId?: string;
      message: LegacyAgentMessage;
      isSynthetic?: boolean;
    },
    LegacyToolResultContext,
    { message?: LegacyAgentMessage }
  >;
  before_message_write: Hook<
    { message: LegacyAgentMessage; sessionKey?: string; agentId?: string },
    LegacyWriteContext,
    { message?: LegacyAgentMessage; block?: boolean }
  >;
  session_start: Hook<
    { sessionId: string; sessionKey?: string; resumedFrom?: string },
    LegacySessionContext
  >;
  session_end: Hook<
    { sessionId: string; sessionKey?: string; messageCount: number; durationMs?: number },
    LegacySessionContext
  >;
  subagent_spawning: Hook<
    SpawnEvent,
    LegacySubagentContext,
    { status: 'ok'; threadBindingReady?: boolean } | { status: 'error'; error: string }
  >;
  subagent_delivery_target: Hook<
    {
      childSessionKey: string;
      requesterSessionKey: string;
      requesterOrigin?: LegacyPlace;
      childRunId?: string;
      spawnMode?: 'run' | 'session';
      expectsCompletionMessage: boolean;
    },
    LegacySubagentContext,
    { origin?: LegacyPlace }
  >;
  subagent_spawned: Hook<SpawnEvent & { runId: string }, LegacySubagentContext>;
  subagent_ended: Hook<
    {
      targetSessionKey: string;
      targetKind: 'subagent' | 'acp';
      reason: string;
      sendFarewell?: boolean;
      accountId?: string;
      runId?: string;
      endedAt?: number;
      outcome?: 'ok' | 'error' | 'timeout' | 'killed' | 'reset' | 'deleted';
      error?: string;
    },
    LegacySubagentContext
  >;
  gateway_start: Hook<{ port: number }, LegacyGatewayContext>;
  gateway_stop: Hook<{ reason?: string }, LegacyGatewayContext>;
}

/** A plugin hook's name. */
export type LegacyHookName = keyof LegacyHooks;

/** What a hook's handlers are called with first. */
export type LegacyEvent<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['event'];

/** What a hook's handlers are called with second. */
export type LegacyContext<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['ctx'];

/** What a hook comes to. */
export type LegacyResult<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['result'];
