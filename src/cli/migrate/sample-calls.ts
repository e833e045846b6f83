import type { LegacyHookName } from '../../legacy/index.js';

const messages = [{ role: 'user', content: 'hello' }];
const run = { agentId: 'main', sessionKey: 'agent:main:main', sessionId: 'session-1' };
const model = { runId: 'run-1', sessionId: 'session-1', provider: 'acme', model: 'acme-1' };
const message = { channelId: 'slack', accountId: 'default', conversationId: 'C1' };
const child = { childSessionKey: 'agent:main:subagent:1', agentId: 'main', mode: 'run' };
const tool = { toolName: 'read', params: { path: 'notes.txt' } };
const line = { role: 'toolResult', content: 'three lines' };

/** A well-formed call of each hook that `compareParity` runs, for the tests of a plugin that moves. */
export const sampleCalls: Readonly<Record<LegacyHookName, readonly [event: object, ctx: object]>> =
  {
    before_model_resolve: [{ prompt: 'hello' }, run],
    before_prompt_build: [{ prompt: 'hello', messages }, run],
    before_agent_start: [{ prompt: 'hello', messages }, run],
    llm_input: [{ ...model, prompt: 'hello', historyMessages: [], imagesCount: 0 }, run],
    llm_output: [{ ...model, assistantTexts: ['hi'] }, run],
    agent_end: [{ messages, success: true, durationMs: 12 }, run],
    before_compaction: [{ messageCount: 1 }, run],
    after_compaction: [{ messageCount: 1, compactedCount: 1 }, run],
    before_reset: [{ messages, reason: 'new' }, run],
    message_received: [{ from: 'U1', content: 'hello', timestamp: 1_700_000_000_000 }, message],
    message_sending: [{ to: 'C1', content: 'hello' }, message],
    message_sent: [{ to: 'C1', content: 'hello', success: true }, message],
    before_tool_call: [tool, { ...run, toolName: 'read' }],
    after_tool_call: [
      { ...tool, result: 'three lines', durationMs: 3 },
      { ...run, toolName: 'read' },
    ],
    tool_result_persist: [
      { message: line, toolName: 'read' },
      { agentId: run.agentId, sessionKey: run.sessionKey, toolName: 'read' },
    ],
    before_message_write: [{ message: line }, { agentId: 'main' }],
    session_start: [{ sessionId: 'session-1' }, { sessionId: 'session-1', agentId: 'main' }],
    session_end: [
      { sessionId: 'session-1', messageCount: 2 },
      { sessionId: 'session-1', agentId: 'main' },
    ],
    subagent_spawning: [{ ...child, threadRequested: false }, {}],
    subagent_spawned: [{ ...child, runId: 'run-2', threadRequested: false }, {}],
    subagent_delivery_target: [
      {
        childSessionKey: child.childSessionKey,
        requesterSessionKey: run.sessionKey,
        expectsCompletionMessage: true,
      },
      {},
    ],
    subagent_ended: [
      { targetSessionKey: child.childSessionKey, targetKind: 'subagent', reason: 'done' },
      {},
    ],
    gateway_start: [{ port: 18_789 }, { port: 18_789 }],
    gateway_stop: [{ reason: 'restart' }, { port: 18_789 }],
  };
