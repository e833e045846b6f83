import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKernel, type Envelope, type Given } from '../../../src/kernel/internal.js';
import { type LegacyHookName, legacyHookNames } from '../../../src/openclaw/index.js';
import { profiles } from '../../../src/openclaw/profiles/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { events } from '../../parity/hooks/events.js';

type Fields = Record<string, unknown>;
type Told = { readonly event: Fields; readonly ctx: Fields };

const seed = 20260317;

/** A record without what nobody filled in. */
function filled(fields: Fields): Fields {
  const isFilled = ([, value]: [string, unknown]) => value !== undefined && value !== null;
  return Object.fromEntries(Object.entries(fields).filter(isFilled));
}

/** The deliberate differences between what a host tells and what handlers of a canonical dispatch see. */
const differences: Partial<Record<LegacyHookName, (told: Told) => Told>> = {
  before_agent_start: ({ event: { messages: _, ...event }, ctx }) => ({ event, ctx }), // of the first stage
  llm_input: ofTheEvent('sessionId'),
  llm_output: (told) => {
    const { usage } = told.event;
    const counted = usage === undefined ? {} : { usage: filled(usage as Fields) };
    return ofTheEvent('sessionId')({ ...told, event: { ...told.event, ...counted } });
  },
  message_received: ({ event, ctx }) => {
    const { threadId, ...metadata } = (event.metadata ?? {}) as Fields;
    return {
      event: { ...event, metadata: { ...metadata, ...threadNames(threadId, ctx.conversationId) } },
      ctx,
    };
  },
  message_sending: ({ event, ctx }) => {
    const { threadId, ...metadata } = (event.metadata ?? {}) as Fields;
    const { channelId: channel, accountId } = ctx;
    const places = filled({ channel, accountId });
    const names = threadNames(threadId, ctx.conversationId ?? event.to);
    const all = {
      ...places,
      ...metadata,
      ...names,
      ...('threadId' in ((event.metadata ?? {}) as Fields) && { threadId }),
    };
    return { event: { ...event, metadata: all }, ctx };
  },
  message_sent: ({ event: { error, ...event }, ctx }) => ({
    event: event.success
      ? event // a message that was sent has no error
      : { ...event, error: error ?? 'the sender did not say why' },
    ctx,
  }),
  before_tool_call: toolIds,
  after_tool_call: toolIds,
  tool_result_persist: ({ event, ctx }) => {
    const ids = {
      ...pick(ctx, ['toolName', 'toolCallId']),
      ...pick(event, ['toolName', 'toolCallId']),
    };
    return { event: { ...event, ...ids }, ctx: { ...ctx, ...ids } };
  },
  before_message_write: ({ event, ctx }) => {
    const ids = {
      ...pick(ctx, ['agentId', 'sessionKey']),
      ...pick(event, ['agentId', 'sessionKey']),
    };
    return { event: { ...event, ...ids }, ctx: ids };
  },
  session_start: sessionIds,
  session_end: sessionIds,
  subagent_spawning: ({ event, ctx }) => ({
    event,
    ctx: { ...ctx, childSessionKey: event.childSessionKey },
  }),
  subagent_spawned: ({ event, ctx }) => ({
    event,
    ctx: { ...ctx, childSessionKey: event.childSessionKey, runId: event.runId },
  }),
  subagent_delivery_target: ({ event, ctx }) => {
    const childRunId = event.childRunId ?? ctx.runId;
    const { childSessionKey, requesterSessionKey } = event;
    return {
      event: filled({ ...event, childRunId }),
      ctx: filled({ runId: childRunId, childSessionKey, requesterSessionKey }),
    };
  },
  subagent_ended: ({ event, ctx }) => {
    const runId = event.runId ?? ctx.runId;
    return {
      event: filled({ ...event, runId }),
      ctx: filled({ ...ctx, runId, childSessionKey: event.targetSessionKey }),
    };
  },
  gateway_start: ({ event }) => ({ event, ctx: { port: event.port } }),
};

function ofTheEvent(name: string) {
  return ({ event, ctx }: Told): Told => ({ event, ctx: { ...ctx, [name]: event[name] } });
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

function threadNames(threadId: unknown, channelId: unknown): Fields {
  if (threadId === undefined || threadId === null) return {};
  return { threadId, threadTs: String(threadId), ...filled({ channelId }) };
}

function toolIds({ event, ctx }: Told): Told {
  const ids = { ...pick(ctx, ['runId', 'toolCallId']), ...pick(event, ['runId', 'toolCallId']) };
  return { event: { ...event, ...ids }, ctx: { ...ctx, ...ids, toolName: event.toolName } };
}

function sessionIds({ event, ctx }: Told): Told {
  const sessionKey = event.sessionKey ?? ctx.sessionKey;
  const { sessionId } = event;
  return {
    event: filled({ ...event, sessionKey }),
    ctx: filled({ ...ctx, sessionId, sessionKey }),
  };
}

const kernel = createKernel();

/** What handlers see of what a host has told, by way of the canonical payloads. */
function throughPipeline(hook: LegacyHookName, { event, ctx }: Told): Told {
  const row = profiles['2026.3'][hook];
  const [first] = row.announce(event as never, ctx as never);
  if (first === undefined) throw new Error(`${hook} announces nothing`);
  const { family, payload } = first;
  const parsed = kernel.parsePayload(family, structuredClone(payload));
  const { agentId = null, sessionId = null }: Given = first.given ?? {};
  const envelope = { family, payload: parsed, agentId, sessionId } as unknown as Envelope; // all that views read
  return row.view(envelope) as unknown as Told;
}

describe('what a legacy host tells, by way of the canonical payload (§17.1)', () => {
  it.each(legacyHookNames['2026.3'])(
    'comes back with every field, but for what is named here: %s',
    (hook) => {
      const both = fc.record(events[hook]) as fc.Arbitrary<Told>;
      fc.assert(
        fc.property(both, (generated) => {
          const told = { event: filled(generated.event), ctx: filled(generated.ctx) };
          const differ = differences[hook] ?? ((same: Told) => same);
          const expected = differ(withProvider(told));
          const seen = throughPipeline(hook, told);
          expect(plain(seen)).toEqual(plain(expected));
        }),
        { seed, numRuns: 300 },
      );
    },
  );
});

/** A run's provider is its channel where nothing else is said. */
function withProvider({ event, ctx }: Told): Told {
  const messageProvider = ctx.messageProvider ?? ctx.channelId;
  const isOfRun = !(
    'accountId' in ctx ||
    'conversationId' in ctx ||
    'from' in event ||
    'to' in event
  );
  return { event, ctx: isOfRun ? filled({ ...ctx, messageProvider }) : ctx };
}

/** Absent and `undefined` are the same to a handler. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('what a legacy host leaves open (§17.10)', () => {
  it.each(legacyHookNames['2026.3'])(
    'may be null as well as undefined, and its handlers run: %s',
    async (hook) => {
      const { kernel: own, outcomes } = createTestKernel({ validate: 'borders', trace: false });
      const { createLegacyHookRunner, registerLegacyHook } = await import(
        '../../../src/openclaw/index.js'
      );
      const errors: string[] = [];
      const runner = createLegacyHookRunner(own, {
        logger: { error: (text) => void errors.push(text) },
      });
      let called = 0;
      registerLegacyHook(own, { pluginId: 'p', hookName: hook, handler: () => void called++ });
      const name = hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const run = runner[`run${name}` as 'runLlmInput'];
      const both = fc.record(events[hook]) as fc.Arbitrary<Told>;
      const samples = fc.sample(both, { seed, numRuns: 60 });
      const asNull = (fields: Fields): Fields =>
        Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value ?? null]));
      for (const { event, ctx } of samples) await run(asNull(event) as never, asNull(ctx) as never);
      expect(errors).toEqual([]);
      expect(called).toBe(samples.length);
      expect(outcomes.length).toBeGreaterThanOrEqual(samples.length);
    },
  );
});
