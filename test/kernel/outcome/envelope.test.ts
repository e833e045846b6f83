import { describe, expect, it } from 'vitest';
import { virtualStartMs } from '../../../src/testing/virtual-clock.js';
import { createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const fields = [
  'eventId',
  'family',
  'occurredAt',
  'workspaceId',
  'agentId',
  'sessionId',
  'accountRef',
  'conversationRef',
  'threadRef',
  'messageRef',
  'sourceContributionId',
  'correlationId',
  'payload',
  'metadata',
  'providerMetadata',
  'hotPath',
];

const ref = (id: string) => ({ channel: 'console', id });

const everything = () => ({
  workspaceId: 'w',
  agentId: 'a',
  sessionId: 's',
  accountRef: ref('acc'),
  conversationRef: ref('con'),
  threadRef: ref('thr'),
  messageRef: ref('msg'),
  correlationId: 'first',
  metadata: { trace: 1 },
  providerMetadata: { update: 2 },
});

describe('an envelope', () => {
  it('has the sixteen fields and no other; what is not known is null (§1.1)', () => {
    const { event } = createLab({ ids: () => 'id' }).kernel.dispatchSync('lab.sync', labSample());
    expect(Object.keys(event).sort()).toEqual([...fields].sort());
    expect(Object.isFrozen(event)).toBe(true);
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect(event).toEqual({
      eventId: 'id',
      family: 'lab.sync',
      occurredAt: virtualStartMs,
      workspaceId: null,
      agentId: null,
      sessionId: null,
      accountRef: null,
      conversationRef: null,
      threadRef: null,
      messageRef: null,
      sourceContributionId: null,
      correlationId: 'id',
      payload: { title: 'hello' },
      metadata: {},
      providerMetadata: {},
      hotPath: false,
    });
  });

  it('says that its family is on a hot path (§1.1, §2.1)', async () => {
    const { event } = await createLab().kernel.dispatch('lab.sibling', labSample());
    expect(event.hotPath).toBe(true);
  });

  it('carries what the dispatch was given (§1.1)', () => {
    const given = {
      ...everything(),
      sourceContributionId: 'x/made',
      eventId: 'mine',
      occurredAt: 5,
    };
    const { event } = createLab().kernel.dispatchSync('lab.sync', labSample(), given);
    expect(event).toMatchObject(given);
  });

  it('takes its time and sequence when dispatch is called, and its id’s text later (§1.2)', async () => {
    const asked: [number, number][] = [];
    const ids = (stampMs: number, sequence: number): string => {
      asked.push([stampMs, sequence]);
      return `id-${sequence}`;
    };
    const { kernel, clock } = createLab({ ids });
    const first = kernel.dispatchSync('lab.sync', labSample());
    await clock.advance(70);
    const second = kernel.dispatchSync('lab.sync', labSample());
    expect(asked).toEqual([]);
    expect([second.event.eventId, first.event.eventId]).toEqual(['id-2', 'id-1']);
    expect([first.event.occurredAt, second.event.occurredAt]).toEqual([
      virtualStartMs,
      virtualStartMs + 70,
    ]);
    expect(first.event).toBe(first.event);
    expect(asked).toEqual([
      [virtualStartMs + 70, 2],
      [virtualStartMs, 1],
    ]);
  });

  it('freezes what it was given, metadata in depth (§1.5)', () => {
    const { kernel } = createLab();
    const metadata = { deep: { list: [{}] } };
    const accountRef = ref('acc');
    const { event } = kernel.dispatchSync('lab.sync', labSample(), { metadata, accountRef });
    expect(event.metadata).toBe(metadata);
    expect(Object.isFrozen(metadata.deep.list[0])).toBe(true);
    expect(Object.isFrozen(event.accountRef)).toBe(true);
  });

  it('takes data that it was given before without a second look, and looks at other data (§1.5)', () => {
    const { kernel } = createLab();
    const { metadata, accountRef } = { metadata: { deep: { list: [1] } }, accountRef: ref('bot') };
    const { freeze } = Object;
    const frozen: unknown[] = [];
    const give = (given: object): void => {
      Object.freeze = <T>(value: T) => {
        frozen.push(value);
        return freeze(value);
      };
      try {
        kernel.dispatchSync('lab.sync', labSample(), given);
      } finally {
        Object.freeze = freeze;
      }
    };
    const data = [metadata, metadata.deep, metadata.deep.list, accountRef];
    give({ metadata, accountRef });
    expect(frozen).toEqual(expect.arrayContaining(data));
    frozen.length = 0;
    give({ metadata, accountRef });
    for (const one of data) expect(frozen.includes(one)).toBe(false);
    const other = { deep: { list: [2] } };
    give({ metadata: other, accountRef });
    expect(Object.isFrozen(other.deep.list)).toBe(true);
    const odd = { at: new Date(0) };
    for (let twice = 0; twice < 2; twice++)
      expect(() => give({ metadata: odd })).toThrow(expect.objectContaining({ code: 'bad-given' }));
  });

  it.each([
    ['metadata', { metadata: { at: new Date(0) } }, 'metadata/at'],
    ['providerMetadata', { providerMetadata: { list: [new Map()] } }, 'providerMetadata/list/0'],
    ['occurredAt', { occurredAt: Number.NaN }, 'occurredAt'],
  ])('refuses a given %s that is no data, and names it (§1.6)', (_, given, field) => {
    const { kernel } = createLab();
    const dispatch = (): unknown => kernel.dispatchSync('lab.sync', labSample(), given);
    expect(dispatch).toThrow(expect.objectContaining({ code: 'bad-given' }));
    expect(dispatch).toThrow(new RegExp(field));
  });
});

describe('after another dispatch', () => {
  it('refs, ids and correlation go on; metadata and the source do not (§1.8)', () => {
    const { kernel } = createLab();
    const after = kernel.dispatchSync('lab.sync', labSample(), {
      ...everything(),
      sourceContributionId: 'x/made',
    });
    const { event } = kernel.dispatchSync('lab.sync', labSample(), { after });
    const { metadata: _, providerMetadata: __, ...inherited } = everything();
    expect(event).toMatchObject({ ...inherited, metadata: {}, providerMetadata: {} });
    expect(event.sourceContributionId).toBe(null);
    expect(event.eventId).not.toBe(after.event.eventId);
  });

  it('an own value beats an inherited one, and an explicit null clears it (§1.8)', () => {
    const { kernel } = createLab();
    const after = kernel.dispatchSync('lab.sync', labSample(), everything());
    const own = { after, agentId: 'b', sessionId: null, threadRef: null, messageRef: ref('new') };
    const { event } = kernel.dispatchSync('lab.sync', labSample(), own);
    expect(event).toMatchObject({
      workspaceId: 'w',
      agentId: 'b',
      sessionId: null,
      threadRef: null,
      messageRef: ref('new'),
      accountRef: ref('acc'),
    });
  });

  it('the correlation is that of the event that began it, along the whole chain (§1.8)', () => {
    const { kernel } = createLab();
    const first = kernel.dispatchSync('lab.sync', labSample());
    expect(first.event.correlationId).toBe(first.event.eventId);
    const second = kernel.dispatchSync('lab.sync', labSample(), { after: first });
    const third = kernel.dispatchSync('lab.sync', labSample(), { after: second });
    expect(third.event.correlationId).toBe(first.event.eventId);
  });

  it('annotations go on downstream, and mean the same there (§1.8, §7.2)', async () => {
    const { kernel } = createLab();
    kernel.contribute({
      family: 'lab.sync',
      class: 'augmenter',
      extensionId: 'x',
      id: 'note',
      handler: () => ({ notes: ['one'], language: 'es' }),
    });
    kernel.contribute({
      family: 'lab.sequential',
      class: 'augmenter',
      extensionId: 'x',
      id: 'more',
      handler: ({ annotations }) => ({ notes: [`saw ${String(annotations['language'])}`] }),
    });
    kernel.contribute({
      family: 'lab.sequential',
      class: 'augmenter',
      extensionId: 'x',
      id: 'other',
      handler: () => ({ language: 'pt' }),
    });
    const after = kernel.dispatchSync('lab.sync', labSample());
    const outcome = await kernel.dispatch('lab.sequential', labSample(), { after });
    expect(outcome.annotations).toEqual({ notes: ['one', 'saw es'], language: 'es' });
    expect(after.annotations).toEqual({ notes: ['one'], language: 'es' });
    expect(outcome.failures.map((one) => one.contributionId)).toEqual(['other']);
    const parallel = await kernel.dispatch('lab.parallel', labSample(), { after: outcome });
    expect(parallel.annotations).toBe(outcome.annotations);
  });
});
