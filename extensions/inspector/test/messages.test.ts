import { cancel, defineExtension } from 'sluice';
import { keepTimeline, memoryJournal, type NewEntry, timelineRecorder } from 'sluice/host';
import { startTestHost, virtualClock } from 'sluice/testing';
import { expect, it } from 'vitest';
import { type Inspector, startInspector } from '../src/index.js';
import { ask, knowing } from './ask.js';

interface Found {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly before?: number;
  readonly last: number;
}

async function found(inspector: Inspector, path: string): Promise<Found> {
  const { body } = await ask(inspector, `/api/${path}`, { headers: knowing(inspector) });
  return JSON.parse(body) as Found;
}

/** A journal that keeps entries, and a page on it. */
async function lab() {
  const clock = virtualClock(1_000);
  const journal = memoryJournal({ clock, keepRows: 40_000 });
  const timeline = timelineRecorder({ clock });
  timeline.listen(keepTimeline(journal));
  const inspector = await startInspector({ name: 'a test', reader: journal });
  return {
    ...{ clock, journal, timeline, inspector },
    tell: (entry: NewEntry) => timeline.record(() => entry),
    [Symbol.asyncDispose]: () => inspector[Symbol.asyncDispose](),
  };
}

const update = (
  id: string,
  state: 'accepted' | 'begun' | 'ended',
  more: object = {},
): NewEntry => ({
  ...{ kind: 'update', id, correlationId: id, state, channel: 'fake', accountId: 'default' },
  ...more,
});
const send = (id: string): NewEntry => ({
  ...{ kind: 'send', id, correlationId: 'none', state: 'sent', sendKind: 'reply' },
});

it('a message is one line with its channel, its end, its time and its cancels and failures', async () => {
  await using test = await lab();
  const guard = defineExtension({
    id: 'guard',
    setup(api) {
      api.veto('egress.preparing', 'hush', () => cancel('policy'));
      api.observe('ingress.normalized', 'broken', () => {
        throw new Error('no');
      });
    },
  });
  const { journal, timeline } = test;
  await using host = await startTestHost({
    ...{ journal: { opened: journal, closes: false }, timeline, extensions: [guard] },
  });
  await host.say('hello');
  const { rows, before } = await found(test.inspector, 'messages');
  const messages = rows.filter(({ state }) => state !== undefined);
  expect(messages).toMatchObject([{ channel: 'fake', cancels: 1, failures: 1 }]);
  expect(messages[0]?.['state']).not.toBe('accepted');
  expect(before).toBeUndefined();
});

it('a message that has not ended is in the list with its newest step', async () => {
  await using test = await lab();
  test.tell(update('u-1', 'accepted'));
  await test.clock.advance(50);
  test.tell(update('u-1', 'begun'));
  expect((await found(test.inspector, 'messages')).rows).toEqual([
    {
      id: 'u-1',
      channel: 'fake',
      state: 'begun',
      fromMs: 1_000,
      toMs: 1_050,
      cancels: 0,
      failures: 0,
    },
  ]);
});

it('what is newer than a record is read alone, so that nothing is counted twice', async () => {
  await using test = await lab();
  test.tell(update('u-1', 'accepted'));
  const { last } = await found(test.inspector, 'messages');
  await test.clock.advance(50);
  test.tell(update('u-1', 'ended', { outcome: 'answered' }));
  const newer = await found(test.inspector, `messages?after=${last}`);
  expect(newer.rows).toMatchObject([{ id: 'u-1', state: 'answered', fromMs: 1_050 }]);
  expect(await found(test.inspector, `messages?after=${newer.last}`)).toEqual({
    ...{ rows: [], last: newer.last },
  });
});

it('a search says where to go on, also if it has found nothing in all that it looked through', async () => {
  await using test = await lab();
  test.tell(update('u-1', 'accepted'));
  for (let at = 0; at < 10_200; at++) test.tell(send(`send-${at}`));
  const first = await found(test.inspector, 'list?q=kind:update');
  expect(first.rows).toEqual([]);
  const { rows } = await found(test.inspector, `list?q=kind:update&before=${first.before}`);
  expect(rows).toMatchObject([{ id: 'u-1', seq: 1 }]);
});

it('the id of a line is whole, so that its link leads to its message', async () => {
  await using test = await lab();
  const id = `u-${'x'.repeat(400)}`;
  test.tell(update(id, 'accepted', { reason: 'y'.repeat(400) }));
  expect((await found(test.inspector, 'list')).rows).toMatchObject([{ id, correlationId: id }]);
});

it.each(['__proto__', 'constructor', 'nobody'])(
  'there is no message, payload or body by the name %s, and the answer says so',
  async (id) => {
    await using test = await lab();
    test.tell(update('u-1', 'accepted'));
    for (const path of ['way', 'payload', 'body']) {
      const asked = `/api/${path}?id=${id}`;
      const { status, body } = await ask(test.inspector, asked, {
        headers: knowing(test.inspector),
      });
      expect([status, JSON.parse(body)]).toEqual([
        404,
        { error: 'the journal has no such message' },
      ]);
    }
  },
);
