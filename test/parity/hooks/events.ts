import fc from 'fast-check';
import type { LegacyHookName } from '../../../src/openclaw/index.js';
import type { Fields } from './hook-set.js';

type Arbitrary<T = unknown> = fc.Arbitrary<T>;
type Shape = Readonly<Record<string, Arbitrary>>;

const text = fc.constantFrom('a', 'hello', '', 'ü', '42', ' x ');
const id = fc.constantFrom('id-1', 'id-2', 'x');
const count = fc.constantFrom(0, 1, 7, 120_000);
const mark = fc.boolean();
const thread: Arbitrary = fc.constantFrom('1234.5678', 't', 17);
const value: Arbitrary = fc.constantFrom('v', 1, true, null, ['a'], { deep: { b: 1 } });
const record: Arbitrary<Fields> = fc.dictionary(
  fc.constantFrom('path', 'mode', 'k', 'x-y'),
  value,
  {
    maxKeys: 3,
    noNullPrototype: true,
  },
);

/** Some of the optional fields: absent, or there and `undefined`, as callers write both. */
function fields(required: Shape, optional: Shape = {}): Arbitrary<Fields> {
  const all: Shape = {
    ...required,
    ...Object.fromEntries(
      Object.entries(optional).map(([key, one]) => [
        key,
        fc.oneof({ weight: 5, arbitrary: one }, { weight: 1, arbitrary: fc.constant(undefined) }),
      ]),
    ),
  };
  return fc.record(all, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  }) as Arbitrary<Fields>; // a record of just those keys
}

const metadata = fc
  .tuple(record, fields({}, { to: text, threadId: thread, senderId: id, provider: id }))
  .map(([some, others]) => ({ ...some, ...others }));

const message: Arbitrary<Fields> = fields(
  { role: fc.constantFrom('user', 'assistant', 'toolResult') },
  {
    content: fc.oneof(
      text,
      fc.array(fields({ type: fc.constant('text'), text }), { maxLength: 2 }),
    ),
  },
);
const messages = fc.array(message, { maxLength: 2 });
const place = fields({}, { channel: id, accountId: id, to: text, threadId: thread });

const agentCtx = fields(
  {},
  {
    agentId: id,
    sessionKey: id,
    sessionId: id,
    workspaceDir: text,
    messageProvider: id,
    trigger: fc.constantFrom('user', 'heartbeat', 'cron', 'memory'),
    channelId: id,
  },
);
const messageCtx = fields(
  { channelId: fc.constantFrom('slack', 'telegram') },
  { accountId: id, conversationId: id },
);
const toolCtx = fields(
  { toolName: id },
  { agentId: id, sessionKey: id, sessionId: id, runId: id, toolCallId: id },
);
const sessionCtx = fields({ sessionId: id }, { agentId: id, sessionKey: id });
const subagentCtx = fields({}, { runId: id, childSessionKey: id, requesterSessionKey: id });
const gatewayCtx = fields({}, { port: fc.constantFrom(0, 18_789) });

const call = { runId: id, sessionId: id, provider: id, model: id };
const spawn = {
  childSessionKey: id,
  agentId: id,
  mode: fc.constantFrom('run', 'session'),
  threadRequested: mark,
};
const spawnMore = { label: text, requester: place };
const usage = fields(
  {},
  { input: count, output: count, cacheRead: count, cacheWrite: count, total: count },
);

/** The well-formed events and contexts of every hook: required fields always, the others now and then. */
export const events: Readonly<
  Record<LegacyHookName, { readonly event: Arbitrary<Fields>; readonly ctx: Arbitrary<Fields> }>
> = {
  before_model_resolve: { event: fields({ prompt: text }), ctx: agentCtx },
  before_prompt_build: { event: fields({ prompt: text, messages }), ctx: agentCtx },
  before_agent_start: { event: fields({ prompt: text }, { messages }), ctx: agentCtx },
  llm_input: {
    event: fields(
      { ...call, prompt: text, historyMessages: messages, imagesCount: count },
      { systemPrompt: text },
    ),
    ctx: agentCtx,
  },
  llm_output: {
    event: fields(
      { ...call, assistantTexts: fc.array(text, { maxLength: 2 }) },
      { lastAssistant: message, usage },
    ),
    ctx: agentCtx,
  },
  agent_end: {
    event: fields({ messages, success: mark }, { error: text, durationMs: count }),
    ctx: agentCtx,
  },
  before_compaction: {
    event: fields(
      { messageCount: fc.oneof(count, fc.constant(-1)) },
      { compactingCount: count, tokenCount: count, messages, sessionFile: text },
    ),
    ctx: agentCtx,
  },
  after_compaction: {
    event: fields(
      {
        messageCount: fc.oneof(count, fc.constant(-1)),
        compactedCount: fc.oneof(count, fc.constant(-1)),
      },
      { tokenCount: count, sessionFile: text },
    ),
    ctx: agentCtx,
  },
  before_reset: {
    event: fields({}, { sessionFile: text, messages, reason: fc.constantFrom('new', 'reset') }),
    ctx: agentCtx,
  },
  message_received: {
    event: fields(
      { from: text, content: text },
      { timestamp: fc.constantFrom(0, 1_773_532_800_000), metadata },
    ),
    ctx: messageCtx,
  },
  message_sending: {
    event: fields({ to: text, content: text }, { metadata }),
    ctx: messageCtx,
  },
  message_sent: {
    event: fields({ to: text, content: text, success: mark }, { error: text }),
    ctx: messageCtx,
  },
  before_tool_call: {
    event: fields({ toolName: id, params: record }, { runId: id, toolCallId: id }),
    ctx: toolCtx,
  },
  after_tool_call: {
    event: fields(
      { toolName: id, params: record },
      { runId: id, toolCallId: id, result: value, error: text, durationMs: count },
    ),
    ctx: toolCtx,
  },
  tool_result_persist: {
    event: fields({ message }, { toolName: id, toolCallId: id, isSynthetic: mark }),
    ctx: fields({}, { agentId: id, sessionKey: id, toolName: id, toolCallId: id }),
  },
  before_message_write: {
    event: fields({ message }, { sessionKey: id, agentId: id }),
    ctx: fields({}, { agentId: id, sessionKey: id }),
  },
  session_start: {
    event: fields({ sessionId: id }, { sessionKey: id, resumedFrom: id }),
    ctx: sessionCtx,
  },
  session_end: {
    event: fields({ sessionId: id, messageCount: count }, { sessionKey: id, durationMs: count }),
    ctx: sessionCtx,
  },
  subagent_spawning: { event: fields(spawn, spawnMore), ctx: subagentCtx },
  subagent_delivery_target: {
    event: fields(
      { childSessionKey: id, requesterSessionKey: id, expectsCompletionMessage: mark },
      {
        requesterOrigin: place,
        childRunId: id,
        spawnMode: fc.constantFrom('run', 'session'),
      },
    ),
    ctx: subagentCtx,
  },
  subagent_spawned: { event: fields({ ...spawn, runId: id }, spawnMore), ctx: subagentCtx },
  subagent_ended: {
    event: fields(
      { targetSessionKey: id, targetKind: fc.constantFrom('subagent', 'acp'), reason: text },
      {
        sendFarewell: mark,
        accountId: id,
        runId: id,
        endedAt: fc.constant(1_773_532_800_000),
        outcome: fc.constantFrom('ok', 'error', 'timeout', 'killed', 'reset', 'deleted'),
        error: text,
      },
    ),
    ctx: subagentCtx,
  },
  gateway_start: { event: fields({ port: fc.constantFrom(0, 18_789) }), ctx: gatewayCtx },
  gateway_stop: { event: fields({}, { reason: text }), ctx: gatewayCtx },
};
