import { definedFields, type PayloadOf } from '../../kernel/index.js';
import { knownAmount, knownCount } from '../facts/known.js';
import { voidHook } from './make-row.js';
import { agentContextOf, payloadOf, runOf, runRefs } from './run-context.js';
import type { LegacyAgentContext } from './shapes.js';

type Usage = NonNullable<PayloadOf<'agent.llm.output'>['usage']>;

type LegacyUsage = {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  total?: number;
};

const usageOf = (usage: LegacyUsage): Usage =>
  definedFields({
    inputTokens: knownCount(usage.input),
    outputTokens: knownCount(usage.output),
    cacheReadTokens: knownCount(usage.cacheRead),
    cacheWriteTokens: knownCount(usage.cacheWrite),
    totalTokens: knownCount(usage.total),
  });

const legacyUsageOf = (usage: Usage): LegacyUsage =>
  definedFields({
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    total: usage.totalTokens,
  });

/** Why the last message of the model ended, where its agent keeps that beside it. */
function stopReasonOf(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast(
    (message) => (message as { readonly role?: unknown } | null)?.role === 'assistant',
  ) as { readonly stopReason?: unknown } | undefined; // an agent's own format: looked into with care
  return typeof last?.stopReason === 'string' ? last.stopReason : undefined;
}

/** The hooks that watch a run and its session's reset. */
export const agentHooks = {
  llm_input: voidHook<
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
    parts: [{ family: 'agent.llm.input', class: 'observer' }],
    why: 'The same moment: just before the provider is called, with the composed prompt.',
    announce: (event, ctx) => {
      const { runId, sessionId, provider, model, systemPrompt, prompt } = event;
      const { historyMessages, imagesCount } = event;
      const call = { runId, sessionId, provider, model, prompt, historyMessages, imagesCount };
      const payload = { ...runOf(ctx), ...call, ...definedFields({ systemPrompt }) };
      return [{ family: 'agent.llm.input', payload, given: runRefs({ ...ctx, sessionId }) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.llm.input'>>(envelope);
      const { runId, sessionId = '', provider, model, systemPrompt, prompt } = payload;
      const { historyMessages, imagesCount } = payload;
      const call = { runId, sessionId, provider, model, prompt, historyMessages, imagesCount };
      return {
        event: { ...call, ...definedFields({ systemPrompt }) },
        ctx: agentContextOf(envelope),
      };
    },
  }),
  llm_output: voidHook<
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
    parts: [{ family: 'agent.llm.output', class: 'observer' }],
    why: 'The same moment: after agent_end, once per attempt.',
    announce: (event, ctx) => {
      const { runId, sessionId, provider, model, assistantTexts, lastAssistant, usage } = event;
      const payload = {
        ...runOf(ctx),
        ...{ runId, sessionId, provider, model, assistantTexts: [...assistantTexts] },
        ...definedFields({ lastAssistant }),
        ...(usage !== undefined && { usage: usageOf(usage) }),
      };
      return [{ family: 'agent.llm.output', payload, given: runRefs({ ...ctx, sessionId }) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.llm.output'>>(envelope);
      const { runId, sessionId = '', provider, model, lastAssistant, usage } = payload;
      return {
        event: {
          ...{ runId, sessionId, provider, model, assistantTexts: [...payload.assistantTexts] },
          ...definedFields({ lastAssistant }),
          ...(usage !== undefined && { usage: legacyUsageOf(usage) }),
        },
        ctx: agentContextOf(envelope),
      };
    },
    wants: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.llm.output'>>(envelope);
      const { assistantTexts, fallback, durationMs } = payload;
      // a bridged note of a fallback is no answer: nothing was called, so nothing took time
      return fallback === undefined || assistantTexts.length > 0 || durationMs !== undefined;
    },
  }),
  agent_end: voidHook<
    { messages: unknown[]; success: boolean; error?: string; durationMs?: number },
    LegacyAgentContext
  >({
    parts: [{ family: 'agent.completed', class: 'observer' }],
    why: "Not in the seed's table; the family names this capture as its purpose. The legacy caller reports success where the provider failed: the stop reason of the last message is carried beside it.",
    announce: (event, ctx) => {
      const { messages, success, error } = event;
      const durationMs = knownAmount(event.durationMs);
      const told = definedFields({ error, durationMs, stopReason: stopReasonOf(messages) });
      const payload = { ...runOf(ctx), messages, success, ...told };
      return [{ family: 'agent.completed', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.completed'>>(envelope);
      const { messages = [], success, error, durationMs } = payload;
      return {
        event: { messages, success, ...definedFields({ error, durationMs }) },
        ctx: agentContextOf(envelope),
      };
    },
  }),
  before_compaction: voidHook<
    {
      messageCount: number;
      compactingCount?: number;
      tokenCount?: number;
      messages?: unknown[];
      sessionFile?: string;
    },
    LegacyAgentContext
  >({
    parts: [{ family: 'compaction.before', class: 'observer' }],
    why: 'One compaction is told of on up to three buses: it becomes one event. A count of -1 means that the source does not know; the payload leaves it out.',
    announce: (event, ctx) => {
      const { messages, sessionFile } = event;
      const counts = {
        messageCount: knownCount(event.messageCount),
        compactingCount: knownCount(event.compactingCount),
        tokenCount: knownCount(event.tokenCount),
      };
      const payload = { ...runOf(ctx), ...definedFields({ ...counts, messages, sessionFile }) };
      return [{ family: 'compaction.before', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'compaction.before'>>(envelope);
      const { messageCount = -1, compactingCount, tokenCount, messages, sessionFile } = payload;
      return {
        event: {
          messageCount,
          ...definedFields({ compactingCount, tokenCount, messages, sessionFile }),
        },
        ctx: agentContextOf(envelope),
      };
    },
  }),
  after_compaction: voidHook<
    { messageCount: number; tokenCount?: number; compactedCount: number; sessionFile?: string },
    LegacyAgentContext
  >({
    parts: [{ family: 'compaction.after', class: 'observer' }],
    why: 'As before_compaction. Not told of a compaction that will be retried, as in the legacy system.',
    announce: (event, ctx) => {
      const { sessionFile } = event;
      const counts = {
        messageCount: knownCount(event.messageCount),
        tokenCount: knownCount(event.tokenCount),
        compactedCount: knownCount(event.compactedCount),
      };
      const payload = { ...runOf(ctx), ...definedFields({ ...counts, sessionFile }) };
      return [{ family: 'compaction.after', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'compaction.after'>>(envelope);
      const { messageCount = -1, compactedCount = -1, tokenCount, sessionFile } = payload;
      return {
        event: { messageCount, compactedCount, ...definedFields({ tokenCount, sessionFile }) },
        ctx: agentContextOf(envelope),
      };
    },
    wants: (envelope) => payloadOf<PayloadOf<'compaction.after'>>(envelope).willRetry !== true,
  }),
  before_reset: voidHook<
    { sessionFile?: string; messages?: unknown[]; reason?: string },
    LegacyAgentContext
  >({
    parts: [{ family: 'session.resetting', class: 'observer' }],
    why: 'The legacy caller leaves it out where it cannot read the old transcript; the stage is there on every reset.',
    announce: (event, ctx) => {
      const { sessionFile, messages, reason } = event;
      const payload = { ...runOf(ctx), ...definedFields({ sessionFile, messages, reason }) };
      return [{ family: 'session.resetting', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.resetting'>>(envelope);
      const { sessionFile, messages, reason } = payload;
      return {
        event: definedFields({ sessionFile, messages, reason }),
        ctx: agentContextOf(envelope),
      };
    },
  }),
};
