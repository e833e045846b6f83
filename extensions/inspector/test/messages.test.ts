import { allow, ask as askHuman, cancel, defineExtension } from 'sluice';
import { keepTimeline, memoryJournal, type NewEntry, timelineRecorder } from 'sluice/host';
import { fakeChannel, scriptedAgent, startTestHost, virtualClock } from 'sluice/testing';
import { expect, it } from 'vitest';
import { stateOf } from '../page/states.js';
import { type Inspector, startInspector } from '../src/index.js';
import type { Message } from '../src/message.js';
import type { Told } from '../src/story.js';
import { ask, knowing } from './ask.js';

interface Found<Line> {
  readonly rows: readonly Line[];
  readonly before?: number;
}

async function got<T>(inspector: Inspector, path: string): Promise<T> {
  const { body } = await ask(inspector, `/api/${path}`, { headers: knowing(inspector) });
  return JSON.parse(body) as T; // as the server writes it
}

const found = (inspector: Inspector, path: string) =>
  got<Found<Readonly<Record<string, unknown>>>>(inspector, path);

/** A journal that keeps entries, and a page on it. */
async function lab({ text = false } = {}) {
  const clock = virtualClock(1_000);
  const journal = memoryJournal({ clock, keepRows: 40_000 });
  const timeline = timelineRecorder({ clock });
  timeline.listen(keepTimeline(journal));
  const inspector = await startInspector({ name: 'a test', reader: journal }, { text, clock });
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
  expect(rows).toMatchObject([{ channel: 'fake', cancels: 1, failures: 1 }]);
  expect(rows[0]?.['state']).not.toBe('accepted');
  expect(before).toBeUndefined();
});

it('a message that has not ended is in the list with its newest step', async () => {
  await using test = await lab();
  test.tell(update('u-1', 'accepted'));
  await test.clock.advance(50);
  test.tell(update('u-1', 'begun'));
  expect((await found(test.inspector, 'messages')).rows).toEqual([
    {
      seq: 1,
      id: 'u-1',
      channel: 'fake',
      state: 'begun',
      fromMs: 1_000,
      toMs: 1_050,
      cancels: 0,
      failures: 0,
      modelMs: 0,
    },
  ]);
});

it('a page has 100 messages, and the next one goes on with the message before: each is in one page', async () => {
  await using test = await lab();
  for (let at = 0; at < 250; at++) test.tell(update(`u-${at}`, 'accepted'));
  for (let at = 0; at < 250; at++) test.tell(update(`u-${at}`, 'ended', { outcome: 'answered' }));
  const ids: unknown[] = [];
  let before = '';
  for (const size of [100, 100, 50]) {
    const page = await found(test.inspector, `messages?before=${before}`);
    expect(page.rows).toHaveLength(size);
    ids.push(...page.rows.map(({ id }) => id));
    before = String(page.before);
  }
  expect(before).toBe('undefined');
  expect(ids).toEqual(Array.from({ length: 250 }, (_, at) => `u-${249 - at}`));
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

/** A host whose tool needs the sender's leave, on the journal of a lab. Its model thinks for 300 ms, before the tool and after. */
async function hostOf({ journal, timeline, clock }: Awaited<ReturnType<typeof lab>>) {
  const judge = defineExtension({
    id: 'judge',
    setup(api) {
      api.veto('egress.preparing', 'guard', ({ payload }) =>
        payload.content.includes('secret') ? cancel('unsafe') : allow(),
      );
      api.veto('agent.tool.calling', 'human', () =>
        askHuman({ title: 'Ring the bell?', of: 'principal' }),
      );
    },
  });
  const until = () => new Promise<void>((done) => clock.setTimeout(done, 300));
  const turns = [
    [{ until }, { tool: 'bell', result: () => 'rung' }, { until }, 'It rang.'],
    [{ until }, 'the secret'],
  ];
  return startTestHost({
    ...{ journal: { opened: journal, closes: false }, timeline, clock, extensions: [judge] },
    agents: [{ id: 'main', provider: scriptedAgent(turns) }],
    channel: fakeChannel({ interactive: ['buttons'] }),
  });
}

const linesOf = async (inspector: Inspector, words = '') =>
  (await got<Found<Message>>(inspector, `messages?q=${encodeURIComponent(words)}`)).rows;

const ada = { sender: { id: 'ada', name: 'Ada' } };

it('a message says who wrote it, where, to which agent, and what it waits for in words', async () => {
  await using test = await lab({ text: true });
  await using host = await hostOf(test);
  const said = host.say({ text: 'ring the bell\nplease', message: ada });
  await test.clock.advance(300);
  const [asked] = await linesOf(test.inspector);
  expect(asked).toMatchObject({ sender: 'Ada', conversation: 'fake, chat ada', agentId: 'main' });
  expect(asked).toMatchObject({ text: 'ring the bell', cancels: 0 });
  expect(asked && stateOf(asked).words).toMatch(
    /^waits for Ada's approval since [\w ,]*\d\d:\d\d$/,
  );
  await host.press('Allow');
  await test.clock.advance(300);
  const { correlationId } = await said;
  const [done] = await linesOf(test.inspector, correlationId);
  expect(done).toMatchObject({ state: 'answered', modelMs: 600 });
  expect(done && stateOf(done).words).toBe('was answered');
});

it('the page of a message is one timeline with its model, its tools, its questions and its sends', async () => {
  await using test = await lab({ text: true });
  await using host = await hostOf(test);
  const said = host.say({ text: 'ring the bell', message: ada });
  await test.clock.advance(300);
  await test.clock.advance(60_000);
  const [asked] = await linesOf(test.inspector);
  const open = await got<{ told: readonly Told[] }>(test.inspector, `way?id=${asked?.id}`);
  const pending = open.told.find(({ kind }) => kind === 'question');
  expect(pending).toMatchObject({ status: 'pending', tookMs: 60_000 }); // up to now
  await host.press('Allow');
  await test.clock.advance(300);
  const { correlationId = '' } = await said;
  const { told } = await got<{ told: readonly Told[] }>(test.inspector, `way?id=${correlationId}`);
  const lines = told.map(({ name, tookMs, status }) => [name, tookMs, status]);
  expect(lines.filter(([name]) => /model|tool|human/.test(String(name)))).toEqual([
    ['model scripted', 300, undefined],
    ['tool bell', 60_000, 'ok'], // with its human
    ['model scripted', 300, undefined],
    ['asked a human', 60_000, 'allowed'],
  ]);
  const sends = told.filter(({ name }) => name === 'send of reply');
  expect(sends).toMatchObject([{ status: 'sent', note: 'It rang.' }]);
});

it('a search finds whole messages: by a name, by what was said, and by what one of its facts tells', async () => {
  await using test = await lab({ text: true });
  await using host = await hostOf(test);
  const first = host.say({ text: 'ring the BELL', message: ada });
  await test.clock.advance(300);
  await host.press('Allow');
  await test.clock.advance(300);
  await first;
  const second = host.say({ text: 'tell it', from: 'grace', conversation: 'ops' });
  await test.clock.advance(300);
  await second;
  const find = async (words: string) =>
    (await linesOf(test.inspector, words)).map((one) => one.text);
  expect(await find('bell ada')).toEqual(['ring the BELL']);
  expect(await find('rang')).toEqual(['ring the BELL']);
  expect(await find('code:unsafe')).toEqual(['tell it']);
  expect(await find('code:unsafe grace')).toEqual(['tell it']);
  expect(await find('code:unsafe bell')).toEqual([]);
  expect(await find('family:agent.completed')).toEqual(['tell it', 'ring the BELL']);
  const [stopped] = await linesOf(test.inspector, 'code:unsafe');
  expect(stopped && stateOf(stopped)).toMatchObject({
    ...{ words: 'was stopped by a rule', why: 'judge/guard: unsafe' },
  });
});

it('without leave for texts no message shows or is found by what was said, and names are found', async () => {
  await using test = await lab();
  await using host = await hostOf(test);
  const said = host.say({ text: 'ring the bell', message: ada });
  await test.clock.advance(300);
  expect(await linesOf(test.inspector, 'bell')).toEqual([]);
  expect(await linesOf(test.inspector, 'text:bell')).toEqual([]);
  const [one] = await linesOf(test.inspector, 'Ada');
  expect(one).toMatchObject({ sender: 'Ada' });
  expect(one).not.toHaveProperty('text');
  await host.press('Allow');
  await test.clock.advance(300);
  await said;
});

const nothing = { seq: 1, id: 'u', fromMs: 0, toMs: 0, cancels: 0, failures: 0, modelMs: 0 };

it('each state of a message has words of its own, and none is a word of the journal', () => {
  const words = [
    ...['accepted', 'begun', 'given-back', 'left', 'answered', 'silent', 'command', 'interaction'],
    ...[
      'answer',
      'joined',
      'job',
      'cancelled',
      'aborted',
      'failed',
      'undecodable',
      'ignored',
      'dead',
    ],
  ].map((state) => stateOf({ ...nothing, state }).words);
  expect(new Set(words).size).toBe(words.length);
  expect(words.filter((one) => !one.includes(' ') && one !== 'failed')).toEqual([]);
});
