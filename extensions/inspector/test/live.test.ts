import { keepTimeline, memoryJournal, type NewEntry, timelineRecorder } from 'sluice/host';
import { virtualClock } from 'sluice/testing';
import { expect, it } from 'vitest';
import type { BudgetLine } from '../src/budget-view.js';
import type { Figure } from '../src/figures.js';
import { startInspector } from '../src/index.js';
import { ask, knowing } from './ask.js';

interface Now {
  readonly figures: readonly Figure[];
  readonly budget: readonly BudgetLine[];
  readonly questions: number;
  readonly lanes: readonly {
    readonly lane: string;
    readonly jobs: readonly { readonly isAsked: boolean }[];
  }[];
}

async function lab() {
  const clock = virtualClock(1_000 * 60_000);
  const journal = memoryJournal({ clock, keepRows: 40_000 });
  const timeline = timelineRecorder({ clock });
  timeline.listen(keepTimeline(journal));
  const open = { id: 'q-1', state: 'pending', correlationId: 'u-1' };
  const approvals = {
    list: async () => [open, { ...open, state: 'used' }],
    answer: async () => {},
  };
  const source = { name: 'it', reader: journal, approvals };
  const inspector = await startInspector(source, { clock });
  const now = async (): Promise<Now> => {
    const { body } = await ask(inspector, '/api/now', { headers: knowing(inspector) });
    return JSON.parse(body) as Now; // as the server writes it
  };
  const tell = (id: string, state: string, more: object = {}) =>
    timeline.record(
      () => ({ kind: 'update', id, correlationId: id, state, ...more }) as NewEntry, // a step of an update
    );
  const close = () => inspector[Symbol.asyncDispose]();
  return { clock, journal, now, tell, [Symbol.asyncDispose]: close };
}

it('the last hour is counted by minute, agent and channel, with the time of answers', async () => {
  await using test = await lab();
  const handle = async (id: string, channel: string, agentId: string, end: object) => {
    test.tell(id, 'accepted', { channel });
    await test.clock.advance(500);
    test.tell(id, 'ended', { agentId, ...end });
  };
  await handle('old', 'post', 'main', { outcome: 'answered' });
  await test.clock.advance(60 * 60_000);
  await handle('a', 'post', 'main', { outcome: 'answered' });
  await handle('b', 'post', 'main', { outcome: 'answered' });
  await handle('c', 'post', 'main', { outcome: 'cancelled' });
  await handle('d', 'web', 'other', { outcome: 'failed', state: 'dead' });
  await test.clock.advance(2 * 60_000);
  await handle('e', 'web', 'other', { outcome: 'silent' });
  const { figures, questions } = await test.now(); // the first look has all of it
  expect(figures).toEqual([
    {
      ...{ ago: 2, agentId: 'main', channel: 'post', ended: 3, failed: 0, cancelled: 1 },
      ...{ answered: 2, answerMs: 1_000 },
    },
    {
      ...{ ago: 2, agentId: 'other', channel: 'web', ended: 1, failed: 1, cancelled: 0 },
      ...{ answered: 0, answerMs: 0 },
    },
    {
      ...{ ago: 0, agentId: 'other', channel: 'web', ended: 1, failed: 0, cancelled: 0 },
      ...{ answered: 0, answerMs: 0 },
    },
  ]);
  expect(questions).toBe(1);
  await handle('f', 'web', 'other', { outcome: 'silent' });
  await expect
    .poll(async () => {
      await test.clock.advance(1_000);
      return (await test.now()).figures.at(-1)?.ended;
    })
    .toBe(2);
});

it('the budget is told with its day, what is used and reserved, and the cap; the fullest account first', async () => {
  await using test = await lab();
  const write = async (key: string, account: object): Promise<void> => {
    const body = JSON.stringify(account); // as the store of `sluice-budget` has it
    const quota = { maxKeys: 100, maxBytes: 100_000 };
    await test.journal.keyValues.write('budget', key, { body }, { quota });
  };
  expect((await test.now()).budget).toEqual([]);
  const [holds, used] = [{ 'u-1': { tokens: 100, microUsd: 0 } }, { tokens: 900, microUsd: 0 }];
  await write('1970-01-01/total/a', { name: 'all', used, holds, cap: { tokens: 50_000 } });
  await write('1970-01-01/perAgent/b', { name: 'main', used, holds: {}, cap: { tokens: 1_000 } });
  expect((await test.now()).budget).toEqual([
    { day: '1970-01-01', name: 'agent main', unit: 'tokens', used: 900, reserved: 0, cap: 1_000 },
    { day: '1970-01-01', name: 'all', unit: 'tokens', used: 900, reserved: 100, cap: 50_000 },
  ]);
  await test.clock.advance(24 * 3_600_000);
  expect((await test.now()).budget).toMatchObject([{ day: '1970-01-01' }, {}]); // nothing is used today
});

it('a lane is told in words, and a message of it that waits for a human', async () => {
  await using test = await lab();
  const update = { eventId: 'u-1', channel: 'post', accountId: 'default', receivedAtMs: 0 };
  await test.journal.accept({ ...update, lane: '["post","second","post:ada","7"]' });
  await test.journal.accept({ ...update, eventId: 'u-2', lane: 'of an older host' });
  const { lanes } = await test.now();
  expect(lanes.flatMap(({ jobs }) => jobs.map(({ isAsked }) => isAsked))).toEqual([true, false]);
  expect(lanes.map(({ lane }) => lane)).toEqual([
    'post (second), chat ada, thread 7',
    'of an older host',
  ]);
});
