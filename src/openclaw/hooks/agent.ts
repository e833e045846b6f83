import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { definedRecordOf, type FieldTable, payloadFields, same } from '../facts/field-table.js';
import { counted, measured } from '../facts/known.js';
import { voidHook } from './make-row.js';
import { agentContext } from './run-context.js';
import type { LegacyAgentContext } from './shapes.js';

type LegacyUsage = {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  total?: number;
};

const usageTable: FieldTable<LegacyUsage, NonNullable<PayloadOf<'agent.llm.output'>['usage']>> = {
  input: counted('inputTokens'),
  output: counted('outputTokens'),
  cacheRead: counted('cacheReadTokens'),
  cacheWrite: counted('cacheWriteTokens'),
  total: counted('totalTokens'),
};

/** Why the last message of the model ended, where its agent keeps that beside it. */
function stopReasonOf(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast(
    (message) => (message as { readonly role?: unknown } | null)?.role === 'assistant',
  ) as { readonly stopReason?: unknown } | undefined; // an agent's own format: looked into with care
  return typeof last?.stopReason === 'string' ? last.stopReason : undefined;
}

/** A count that the event always has: -1 if it is not known. */
const countOrUnknown = <const To extends string>(to: To) => ({
  ...counted(to),
  show: (payload: { readonly [Name in To]?: number }): number => payload[to] ?? -1,
});

/** An event of a model call names its session, which a dispatch of others may leave out. */
const sessionId = {
  to: 'sessionId',
  show: (payload: { readonly sessionId?: string }) => payload.sessionId ?? '',
};

/** The hooks that watch a run and its session's reset. */
export const agentHooks = {
  llm_input: voidHook('agent.llm.input')<
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
  >({
    why: 'The same moment: just before the provider is called, with the composed prompt.',
    event: {
      ...same('runId', 'provider', 'model', 'systemPrompt', 'prompt'),
      ...same('historyMessages', 'imagesCount'),
      sessionId,
    },
    context: agentContext,
  }),
  llm_output: voidHook('agent.llm.output')<
    {
      runId: string;
      sessionId: string;
      provider: string;
      model: string;
      assistantTexts: string[];
      lastAssistant?: unknown;
      usage?: LegacyUsage;
    },
    LegacyAgentContext
  >({
    why: 'The same moment: after agent_end, once per attempt.',
    event: {
      ...same('runId', 'provider', 'model', 'lastAssistant'),
      sessionId,
      assistantTexts: {
        to: 'assistantTexts',
        read: (texts) => [...texts],
        show: ({ assistantTexts }) => [...assistantTexts],
      },
      usage: {
        to: 'usage',
        read: (usage) => payloadFields(usageTable, usage),
        show: ({ usage }) => usage && definedRecordOf(usageTable, usage),
      },
    },
    context: agentContext,
    // a bridged note of a fallback is no answer: nothing was called, so nothing took time
    tells: ({ assistantTexts, fallback, durationMs }) =>
      fallback === undefined || assistantTexts.length > 0 || durationMs !== undefined,
  }),
  agent_end: voidHook('agent.completed')<
    { messages: unknown[]; success: boolean; error?: string; durationMs?: number },
    LegacyAgentContext
  >({
    why: "Not in the seed's table; the family names this capture as its purpose. The legacy caller reports success where the provider failed: the stop reason of the last message is carried beside it.",
    event: {
      ...same('success', 'error'),
      messages: { to: 'messages', show: ({ messages = [] }) => messages },
      durationMs: measured('durationMs'),
    },
    context: agentContext,
    adds: ({ messages }) => definedFields({ stopReason: stopReasonOf(messages) }),
  }),
  before_compaction: voidHook('compaction.before')<
    {
      messageCount: number;
      compactingCount?: number;
      tokenCount?: number;
      messages?: unknown[];
      sessionFile?: string;
    },
    LegacyAgentContext
  >({
    why: 'One compaction is told of on up to three buses: it becomes one event. A count of -1 means that the source does not know; the payload leaves it out.',
    event: {
      ...same('messages', 'sessionFile'),
      messageCount: countOrUnknown('messageCount'),
      compactingCount: counted('compactingCount'),
      tokenCount: counted('tokenCount'),
    },
    context: agentContext,
  }),
  after_compaction: voidHook('compaction.after')<
    { messageCount: number; tokenCount?: number; compactedCount: number; sessionFile?: string },
    LegacyAgentContext
  >({
    why: 'As before_compaction. Not told of a compaction that will be retried, as in the legacy system.',
    event: {
      ...same('sessionFile'),
      messageCount: countOrUnknown('messageCount'),
      tokenCount: counted('tokenCount'),
      compactedCount: countOrUnknown('compactedCount'),
    },
    context: agentContext,
    tells: ({ willRetry }) => willRetry !== true,
  }),
  before_reset: voidHook('session.resetting')<
    { sessionFile?: string; messages?: unknown[]; reason?: string },
    LegacyAgentContext
  >({
    why: 'The legacy caller leaves it out where it cannot read the old transcript; the stage is there on every reset.',
    event: same('sessionFile', 'messages', 'reason'),
    context: agentContext,
  }),
};
