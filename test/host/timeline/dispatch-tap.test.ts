import { describe, expect, it } from 'vitest';
import type { DispatchTapOptions } from '../../../src/host/index.js';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import {
  cancel,
  createKernel,
  type FamilyName,
  type Kernel,
} from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';

function journaled(options?: DispatchTapOptions): { kernel: Kernel; journal: Journal } {
  const journal = memoryJournal();
  return { journal, kernel: createKernel({ trace: true, tap: dispatchTap(journal, options) }) };
}

/** The body of the one dispatch that was written. */
async function written(journal: Journal) {
  const [record, ...others] = await journal.dispatches();
  expect(others).toEqual([]);
  if (record === undefined) throw new Error('nothing was written');
  return { record, body: JSON.parse(record.body) };
}

describe('a dispatch in the journal (durability §4.1)', () => {
  it('says who did what, and holds the payload as it was emitted and as it became', async () => {
    const { kernel, journal } = journaled();
    const about = { extensionId: 'shout', id: 'up', priority: 5 };
    kernel.contribute({
      ...about,
      family: 'egress.preparing',
      class: 'mutator',
      handler: ({ payload }) => ({ content: payload.content.toUpperCase() }),
    });
    kernel.contribute({
      extensionId: 'guard',
      id: 'no',
      family: 'egress.preparing',
      class: 'veto',
      handler: () => cancel('policy', { text: 'not now' }),
    });
    const payload = { ...samplePayload('egress.preparing'), content: 'hello' };
    const { event } = await kernel.dispatch('egress.preparing', payload, { sessionId: 's-1' });
    const { record, body } = await written(journal);
    expect(record).toMatchObject({
      eventId: event.eventId,
      correlationId: event.correlationId,
      family: 'egress.preparing',
      sessionId: 's-1',
      status: 'cancelled',
      occurredAtMs: event.occurredAt,
    });
    expect(body.event.payload.content).toBe('hello');
    expect(body.payload.content).toBe('HELLO');
    expect(body.changes).toEqual([{ path: 'content', extensionId: 'shout', contributionId: 'up' }]);
    expect(body.cancel).toMatchObject({ extensionId: 'guard', code: 'policy' });
    expect(body.steps).toMatchObject([{ result: 'patched' }, { result: 'cancelled' }]);
  });

  it('holds one payload where nothing changed it, and can be dispatched again', async () => {
    const { kernel, journal } = journaled();
    await kernel.dispatch('egress.preparing', samplePayload('egress.preparing'));
    const { body } = await written(journal);
    expect(body).not.toHaveProperty('payload');
    const again = kernel.parsePayload('egress.preparing', body.event.payload);
    expect(again).toEqual(samplePayload('egress.preparing'));
  });
});

describe('what is never written (durability §4.2)', () => {
  const canary = 'CANARY-4711';

  it('is a secret, wherever it is, whatever its field is called', async () => {
    const { kernel, journal } = journaled({ redact: ['pin'] });
    const secrets = {
      token: canary,
      botToken: canary,
      api_key: canary,
      'x-api-key': canary,
      Authorization: canary,
      nested: [{ clientSecret: { value: canary }, pin: canary }],
      PASSWORD: canary,
    };
    await kernel.dispatch('egress.preparing', {
      ...samplePayload('egress.preparing'),
      metadata: { ...secrets, inputTokens: 12, tokenCount: 3, secretary: 'Ada' },
    });
    const { record, body } = await written(journal);
    expect(record.body).not.toContain(canary);
    expect(body.event.payload.metadata).toMatchObject({
      botToken: '[redacted]',
      inputTokens: 12,
      tokenCount: 3,
      secretary: 'Ada',
    });
  });

  it('is what a provider sent, and configuration, unless raw updates are asked for', async () => {
    const received = { ...samplePayload('ingress.received'), raw: { said: canary } };
    for (const rawUpdates of [false, true]) {
      const { kernel, journal } = journaled({ rawUpdates });
      await kernel.dispatch('ingress.received', received);
      expect((await written(journal)).record.body.includes(canary)).toBe(rawUpdates);
    }
    const { kernel, journal } = journaled();
    await kernel.dispatch('runtime.started', { startedAtMs: 1, config: { agents: canary } });
    expect((await written(journal)).record.body).not.toContain(canary);
  });

  it.each([
    ['agent.prompt.building', 'messages'],
    ['agent.llm.input', 'historyMessages'],
    ['agent.completed', 'messages'],
    ['compaction.before', 'messages'],
    ['session.resetting', 'messages'],
  ] as const)(
    'B1b: is a history, with %s: only how long it was (durability §4.4)',
    async (family, field) => {
      const { kernel, journal } = journaled();
      const history = Array.from({ length: 300 }, () => ({ role: 'user', content: canary }));
      await kernel.dispatch(family, Object.assign(samplePayload(family), { [field]: history }));
      const { record, body } = await written(journal);
      expect(record).not.toHaveProperty('omitted');
      expect(record.body).not.toContain(canary);
      expect(body.historyLeftOut).toBe(300);
      expect(kernel.parsePayload(family, body.event.payload)).toMatchObject({ [field]: [] });
    },
  );

  it.each([
    ['of a hot path', 'hot-path', {}, 'agent.output.delta'],
    ['that is too large', 'too-large', { maxDispatchLength: 600 }, 'ingress.normalized'],
  ] as const)('is a payload %s: the rest is', async (_, omitted, options, family) => {
    const { kernel, journal } = journaled(options);
    dispatch(kernel, family);
    await kernel.close();
    const { record, body } = await written(journal);
    expect(record).toMatchObject({ family, omitted });
    expect(body.event.payload).toEqual({});
    expect(body).toMatchObject({ status: 'passed', steps: [] });
  });

  it('is, on a hot path, nothing where it is asked for', async () => {
    const { kernel, journal } = journaled({ hotPathPayloads: true });
    kernel.dispatchSync('agent.output.delta', samplePayload('agent.output.delta'));
    const { record, body } = await written(journal);
    expect(record).not.toHaveProperty('omitted');
    expect(body.event.payload).toEqual(samplePayload('agent.output.delta'));
  });

  it('takes no dispatch down: a shared field may hold what is no JSON', async () => {
    const { kernel, journal } = journaled({ rawUpdates: true });
    const raw: { self?: unknown } = {};
    raw.self = raw;
    await kernel.dispatch('ingress.received', { ...samplePayload('ingress.received'), raw });
    expect((await written(journal)).record).toMatchObject({ omitted: 'not-json' });
  });
});

function dispatch(kernel: Kernel, family: FamilyName): void {
  if (family === 'agent.output.delta') kernel.dispatchSync(family, samplePayload(family));
  else void kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
}
