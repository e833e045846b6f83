import { createHash } from 'node:crypto';
import { context, propagation, trace } from '@opentelemetry/api';
import { defineExtension } from 'sluice';
import { memoryJournal, scrubber, timelineRecorder } from 'sluice/host';
import { fakeChannel, startTestHost } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { otel } from '../src/index.js';
import { conventionAttributes, ownAttributes } from './conventions.js';
import { grants, guard, otelLab, toolAgent } from './otel-lab.js';
import { attributesOf, type ReceivedSpan } from './otlp-receiver.js';

const agents = [{ id: 'main', provider: toolAgent() }];
/** The messages of the long run; `SOAK_MESSAGES` names more or fewer. */
const soakMessages = Number(process.env['SOAK_MESSAGES'] ?? 1_000);

const traceOf = (eventId: string): string =>
  createHash('sha256').update(eventId).digest('hex').slice(0, 32);

/** The spans of one message as lines, children under their parents. */
function treeOf(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const under = (parent: string | undefined, depth: number): string[] =>
    own
      .filter(({ parentSpanId }) => (parentSpanId || undefined) === parent)
      .flatMap(({ name, spanId }) => [`${'  '.repeat(depth)}${name}`, ...under(spanId, depth + 1)]);
  return under(undefined, 0);
}

const find = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name}`);
  return found;
};

describe('the traces of a short run', () => {
  it('are sent before the host has stopped (sight §5.1)', async () => {
    await using lab = await otelLab({}, { agents });
    await lab.test.say('hello');
    expect(lab.received.spans).toEqual([]); // a batch waits for five seconds
    await lab.test.host.stop();
    expect(lab.received.spans.map(({ name }) => name)).toContain('process fake');
  });

  it('hold the end of a host up for two seconds at most, if the collector is silent', async () => {
    const silent = {
      getTracer: () => trace.getTracer('none'),
      forceFlush: () => new Promise<void>(() => undefined),
    };
    await using test = await startTestHost({
      grants,
      extensions: [otel({ tracerProvider: silent })],
    });
    const beganAtMs = test.clock.now();
    const stopped = test.host.stop();
    await test.clock.advance(2_000);
    await stopped;
    expect(test.clock.now() - beganAtMs).toBe(2_000);
    expect(test.log.messages().join()).not.toContain('undone');
  });

  it('that cannot be sent do not hinder the end of a host', async () => {
    const broken = {
      getTracer: () => trace.getTracer('none'),
      forceFlush: () => {
        throw new Error('no collector');
      },
    };
    await using test = await startTestHost({
      grants,
      extensions: [otel({ tracerProvider: broken })],
    });
    await test.host.stop();
    expect(test.log.messages().join()).not.toContain('undone');
  });
});

describe('the trace of a message', () => {
  it('has one root, with its stages, its agent run with the call and the tool, and its send (sight §5.1)', async () => {
    await using lab = await otelLab({}, { agents, extensions: [guard] });
    const { correlationId = '' } = await lab.test.say('tool');
    const spans = await lab.spans();
    const tree = treeOf(spans, traceOf(correlationId));
    expect(tree[0]).toBe('process fake');
    expect(tree.filter((line) => !line.startsWith(' '))).toHaveLength(1);
    const lines = tree.map((line) => line.replace(/^ {2}/, ''));
    expect(lines).toEqual(
      expect.arrayContaining([
        ...[
          'sluice.stage ingress.received',
          'sluice.stage ingress.normalized',
          'invoke_agent main',
        ],
        ...['  sluice.stage agent.starting', '  chat acme-1', '  sluice.stage agent.tool.calling'],
        ...['  execute_tool weather', 'sluice.stage egress.preparing', 'send fake'],
      ]),
    );
    const root = find(spans, 'process fake');
    expect(attributesOf(root.attributes)).toMatchObject({
      'messaging.system': 'fake',
      'messaging.operation.type': 'process',
      'sluice.event.id': correlationId,
      'sluice.outcome': 'answered',
      'gen_ai.agent.name': 'main',
    });
    expect(root.events.map(({ name }) => name)).toEqual(['lane.wait', 'lane.wait']);
    expect(attributesOf(find(spans, 'chat acme-1').attributes)).toMatchObject({
      'gen_ai.provider.name': 'acme',
      'gen_ai.usage.input_tokens': 13,
      'gen_ai.usage.output_tokens': 5,
    });
    expect(attributesOf(find(spans, 'send fake').attributes)).toMatchObject({
      'messaging.operation.type': 'send',
      'sluice.send.state': 'sent',
    });
    expect(find(spans, 'send fake').events.map(({ name }) => name)).toEqual(['attempt']);
  });

  it('names a cancel with its code and author, and a guardrail only if the author says so (sight §5.5)', async () => {
    await using lab = await otelLab({}, { agents, extensions: [guard] });
    await lab.test.say('hush');
    await lab.test.say('tool forbidden');
    const spans = await lab.spans();
    const cancelled = spans
      .map(({ attributes }) => attributesOf(attributes))
      .filter((one) => 'sluice.cancel.by' in one);
    expect(cancelled).toEqual([
      expect.objectContaining({
        'sluice.cancel.code': 'quiet-hours',
        'sluice.cancel.by': 'guard/hush',
        'sluice.guardrail.name': 'hush',
        'sluice.guardrail.policy_id': 'p-1',
      }),
      expect.not.objectContaining({ 'sluice.guardrail.name': expect.anything() }),
    ]);
    expect(spans.filter(({ name }) => name.startsWith('execute_tool'))).toEqual([]);
  });

  it('has no text of anybody unless it is asked for (sight §5.6)', async () => {
    const said = 'tool broken Zanzibar';
    await using silent = await otelLab({}, { agents, extensions: [guard] });
    await silent.test.say(said);
    await silent.test.say('fail Zanzibar');
    await silent.spans();
    await silent.flushMetrics();
    const texts = silent.received.bodies.join('\n').replaceAll(/m-\w+( broken)? Zanzibar/g, '');
    expect(/.{200}(Zanzibar|secret words|sunny|Rome)/.exec(texts)?.[0]).toBeUndefined();
    await silent[Symbol.asyncDispose]();
    await using lab = await otelLab({ captureContent: true }, { agents });
    await lab.test.say(said);
    const spans = await lab.spans();
    expect(attributesOf(find(spans, 'chat acme-1').attributes)).toMatchObject({
      'gen_ai.input.messages': expect.stringContaining(said),
      'gen_ai.output.messages': expect.stringContaining(`answer to ${said}`),
    });
    expect(attributesOf(find(spans, 'execute_tool weather').attributes)).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"Rome"}',
      'error.type': 'tool_error',
    });
  });

  it('has such texts as the journal of its host scrubs them (durability §13.1)', async () => {
    const journal = memoryJournal({ scrub: scrubber({ patterns: { city: 'Rome|Lima' } }) });
    await using lab = await otelLab({ captureContent: true }, { agents, journal });
    await lab.test.say('tool for Lima');
    const spans = await lab.spans();
    expect(attributesOf(find(spans, 'chat acme-1').attributes)).toMatchObject({
      'gen_ai.input.messages': expect.stringContaining('tool for [city]'),
      'gen_ai.output.messages': expect.stringContaining('answer to tool for [city]'),
    });
    expect(attributesOf(find(spans, 'execute_tool weather').attributes)).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"[city]"}',
    });
  });

  it('has a span of a handler that took long, and of each handler if that is asked for (sight §5.4)', async () => {
    await using lab = await otelLab({ handlersFromMs: 0 }, { agents, extensions: [guard] });
    await lab.test.say('hello');
    const spans = await lab.spans();
    const sign = find(spans, 'sluice.handler guard/sign');
    expect(attributesOf(sign.attributes)).toEqual({
      'sluice.handler.class': 'mutator',
      'sluice.result': 'patched',
    });
    expect(sign.parentSpanId).toBe(find(spans, 'sluice.stage egress.preparing').spanId);
  });
});

describe('a thousand messages', () => {
  it('are a trace each, with one root, no orphan, and names of the conventions alone (sight §5.1, sight §5.3)', async () => {
    const channel = fakeChannel();
    await using lab = await otelLab(
      {},
      { agents, channel, extensions: [guard], lanes: { maxRunning: 8 } },
    );
    const { test } = lab;
    const words = ['hello', 'tool', 'hush', 'tool forbidden', '/help', 'fail', 'tool broken'];
    const ids: string[] = [];
    for (let at = 0; at < soakMessages; at += 50) {
      const batch = Array.from({ length: Math.min(50, soakMessages - at) }, (_, one) => {
        const from = `user-${(at + one) % 40}`;
        if ((at + one) % 17 === 0) channel.next({ status: 'rejected', reason: 'no' });
        return test.say({
          text: `${words[(at + one) % words.length]} ${at + one}`,
          from,
          conversation: from,
        });
      });
      for (const end of await Promise.all(batch)) ids.push(end.correlationId ?? '');
    }
    const spans = await lab.spans();
    expect(new Set(ids).size).toBe(soakMessages);
    const wanted = new Set(ids.map(traceOf));
    const roots = spans.filter(({ name }) => name === 'process fake');
    expect(roots).toHaveLength(soakMessages);
    expect(new Set(roots.map(({ traceId }) => traceId))).toEqual(wanted);
    const known = new Set(spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`));
    const orphans = spans.filter(
      ({ traceId, parentSpanId }) => parentSpanId && !known.has(`${traceId}/${parentSpanId}`),
    );
    expect(orphans).toEqual([]);
    const rootsOf = new Map<string, number>();
    for (const { traceId, parentSpanId } of spans)
      if (!parentSpanId) rootsOf.set(traceId, (rootsOf.get(traceId) ?? 0) + 1);
    expect([...rootsOf.values()].filter((count) => count !== 1)).toEqual([]);
    expect(known.size).toBe(spans.length);
    const names = new Set(
      spans.flatMap(({ attributes, events }) =>
        [attributes, ...events.map((event) => event.attributes)].flatMap((some) =>
          some.map(({ key }) => key),
        ),
      ),
    );
    const unknown = [...names].filter(
      (key) => !conventionAttributes.has(key) && !ownAttributes.has(key),
    );
    expect(unknown).toEqual([]);
    for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans)
      if (BigInt(to) < BigInt(from)) throw new Error('a span ends before it begins');
  });
});

describe('nothing is paid', () => {
  it('if the extension makes neither traces nor metrics: no entry is made (sight §5.7)', async () => {
    const off = { traces: false, metrics: false, path: false } as const;
    const timeline = timelineRecorder();
    await using lab = await otelLab(off, { agents, timeline });
    expect(timeline.isHeard).toBe(false);
    await lab.test.say('hello');
    expect(await lab.spans()).toEqual([]);
  });
});

describe('the trace of an act of an extension', () => {
  it('has one root, with the stages and the send under it (sight §5.1)', async () => {
    const made: { send?: () => Promise<unknown> } = {};
    const act = defineExtension({
      id: 'act',
      setup(api) {
        made.send = async () =>
          (await api.send({ channel: 'fake', to: 'bob', content: 'tea' })).ended;
      },
    });
    await using lab = await otelLab({}, { agents, extensions: [act] });
    await made.send?.();
    const spans = await lab.spans();
    const tree = treeOf(spans, find(spans, 'send fake').traceId);
    expect(tree.filter((line) => !line.startsWith(' '))).toEqual(['sluice egress.preparing']);
    expect(tree).toEqual(
      expect.arrayContaining([
        '  sluice.stage egress.preparing',
        '  send fake',
        '  sluice.stage egress.sent',
      ]),
    );
  });
});

describe('the trace of a message that was begun again', () => {
  it('after the death of its host is another, linked to the first, whose id follows from the event (sight §5.2)', async () => {
    const journal = memoryJournal();
    const hanging = { ...toolAgent(), run: () => hang() };
    const first = await otelLab(
      { path: false },
      { agents: [{ id: 'main', provider: hanging }], journal },
    );
    const begun = first.test.channel.receive({ text: 'hello' }, 'update-1');
    await begun;
    await vi.waitFor(
      async () =>
        expect((await first.spans()).map(({ name }) => name)).toContain(
          'sluice.stage agent.llm.input',
        ),
      60_000,
    );
    const stages = first.received.spans.filter(({ name }) =>
      name.startsWith('sluice.stage ingress'),
    );
    trace.disable();
    context.disable();
    propagation.disable();
    await using second = await otelLab({ path: false }, { agents, journal });
    await vi.waitFor(() => expect(second.test.ends).toHaveLength(1), 60_000);
    const root = find(await second.spans(), 'process fake');
    const [{ correlationId = '' } = {}] = second.test.ends;
    expect(new Set(stages.map(({ traceId }) => traceId))).toEqual(
      new Set([traceOf(correlationId)]),
    );
    expect(root.traceId).not.toBe(traceOf(correlationId));
    expect(root.links.map(({ traceId }) => traceId)).toEqual([traceOf(correlationId)]);
    expect(attributesOf(root.attributes)).toMatchObject({ 'sluice.update.attempt': 2 });
    await first[Symbol.asyncDispose]();
  });
});

describe('the trace of a message that joined another', () => {
  it('is its root alone, linked to the trace of the message that answers it (sight §5.2)', async () => {
    const ingress = { joinWithinMs: { fake: 1_000 } };
    await using lab = await otelLab({}, { agents, ingress });
    const ends = [lab.test.say('one'), lab.test.say('two')];
    await new Promise(setImmediate);
    await lab.test.clock.advance(5_000);
    const [answered, joined] = await Promise.all(ends);
    expect([answered?.status, joined?.status]).toEqual(['answered', 'joined']);
    const spans = await lab.spans();
    const own = spans.filter(({ traceId }) => traceId === traceOf(joined?.correlationId ?? ''));
    expect(own.map(({ name }) => name)).toEqual(['process fake']);
    expect(own[0]?.links.map(({ traceId }) => traceId)).toEqual([
      traceOf(answered?.correlationId ?? ''),
    ]);
  });
});

async function* hang(): AsyncGenerator<never> {
  await new Promise(() => undefined);
}
