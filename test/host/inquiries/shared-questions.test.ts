import { describe, expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import {
  defineExtension,
  type Question,
  type QuestionEnd,
  type QuestionMessage,
} from '../../../src/sdk/extension/index.js';
import { deferred } from '../../support/kernel-lab.js';
import { twoHosts } from '../../support/two-hosts.js';

const deploy: QuestionMessage = { content: 'Deploy?', options: ['Yes', 'No'] };
const place = { channel: 'scripted', to: 'one' } as const;

/** Two hosts with an extension that asks. Host b has all partitions but that of conversation two. */
async function askingHosts() {
  const ends: { host: string; end: QuestionEnd<unknown> }[] = [];
  const questions = new Map<string, Question>();
  const asking = (host: string) => ({
    extension: defineExtension({
      id: 'asking',
      setup: (api) => {
        questions.set(
          host,
          api.question('deploy', (end) => void ends.push({ host, end })),
        );
      },
    }),
  });
  const hosts = await twoHosts({
    channel: { interactive: ['buttons'] },
    of: (host) => ({ extensions: [asking(host)] }),
  });
  const { a, b, clock, shared } = hosts;
  shared.give('a', [shared.partitionOf(JSON.stringify(['scripted', 'default', 'two', '']))]);
  await clock.advance(100);
  const questionOf = (host: 'a' | 'b'): Question => {
    const question = questions.get(host);
    if (question === undefined) throw new Error('it is registered');
    return question;
  };
  return {
    ...{ ...hosts, ends, questionOf },
    asked: () => [a, b].map(({ texts }) => texts().filter((text) => text === 'Deploy?').length),
    rows: async () =>
      (await shared.of('a').keyValues.list('/questions/asking', { prefix: '', limit: 9 })).length +
      (await shared.of('a').keyValues.list('/questions-in', { prefix: '', limit: 9 })).length,
  };
}

describe('a question of an extension of two hosts on one journal', () => {
  it('that one has asked is answered by a message that the other handles, and is gone then (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, ends } = hosts;
    await hosts.questionOf('a').ask(place, deploy);
    await clock.advance(100);
    expect(hosts.asked()).toEqual([1, 0]);
    await a.channel.receive({ text: 'yes', conversation: 'one' }, '1'); // of a partition of host b
    await clock.advance(3_000);
    expect(ends).toMatchObject([{ end: { status: 'answered', answer: 'Yes' } }]);
    expect(await hosts.states()).toContain('1 answer');
    await clock.advance(120_000);
    expect([await hosts.rows(), ends.length]).toEqual([0, 1]);
  });

  it('is open once in its conversation, also if both ask at once (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { clock } = hosts;
    const asking = Promise.allSettled(
      (['a', 'b'] as const).map((host) => hosts.questionOf(host).ask(place, deploy)),
    );
    await clock.advance(100);
    const settled = await asking;
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(settled.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'question-open' },
    });
    expect(hosts.asked().toSorted()).toEqual([0, 1]);
  });

  it('with a key is asked once, whichever of them asks (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { clock } = hosts;
    const asking = (['a', 'b', 'a'] as const).map((host) =>
      hosts.questionOf(host).ask(place, deploy, { key: 'k' }),
    );
    await clock.advance(100);
    const ids = (await Promise.all(asking)).map(({ id }) => id);
    expect([new Set(ids).size, hosts.asked().toSorted()]).toEqual([1, [0, 1]]);
  });

  it('has one end, also if an answer and the time come to both (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, ends } = hosts;
    await hosts.questionOf('a').ask(place, deploy, { timeoutMs: 60_000 });
    await clock.advance(59_995);
    await a.channel.receive({ text: 'No', conversation: 'one' }, '1');
    await clock.advance(180_000);
    expect(ends).toHaveLength(1);
    expect(await hosts.rows()).toBe(0);
  });

  it('that another host has ended keeps no timer of its deadline at the host that has asked, and is told once (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, ends } = hosts;
    await a.channel.receive({ text: 'hello', conversation: 'one' }, '0');
    await clock.advance(60_000);
    const before = clock.pending;
    await hosts.questionOf('a').ask(place, deploy, { timeoutMs: 3_600_000 });
    await clock.advance(100);
    expect(clock.pending).toBeGreaterThan(before);
    await a.channel.receive({ text: 'yes', conversation: 'one' }, '1'); // of a partition of host b
    await clock.advance(600_000);
    expect(ends).toMatchObject([{ host: 'b', end: { status: 'answered', answer: 'Yes' } }]);
    expect(clock.pending).toBe(before);
    await clock.advance(7_200_000);
    expect(ends).toHaveLength(1);
  });

  it('expires after the host that has asked it is gone (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, shared, ends } = hosts;
    await hosts.questionOf('a').ask(place, deploy, { timeoutMs: 300_000 });
    await clock.advance(100);
    const stopping = a.host.stop({ timeoutMs: 1_000 });
    await clock.advance(5_000);
    await stopping;
    shared.give('b', shared.all);
    await clock.advance(400_000);
    expect(ends).toMatchObject([{ host: 'b', end: { status: 'expired' } }]);
    expect(await hosts.rows()).toBe(0);
  });

  it('expires after the host that has asked it is gone, also if its partition has moved while it was asked (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, shared, ends } = hosts;
    shared.give('a', shared.all.slice(0, 2));
    shared.give('b', shared.all.slice(2));
    await clock.advance(2_000);
    const moved = deferred();
    let left: readonly number[] = [];
    shared.beforeValue = (host, body) => {
      const { askedAtMs, slot } = JSON.parse(body) as { askedAtMs?: number; slot?: number };
      if (host !== 'a' || askedAtMs === undefined || slot === undefined || left.length > 0) return;
      const partition = slot % shared.all.length;
      left = shared.all.slice(0, 2).filter((one) => one !== partition);
      shared.give('b', [partition]);
      return moved.promise; // host b has looked by then
    };
    const asked = hosts.questionOf('a').ask(place, deploy, { timeoutMs: 300_000 });
    await clock.advance(3_000);
    moved.resolve();
    await clock.advance(100);
    await asked;
    const stopping = a.host.stop({ timeoutMs: 1_000 });
    await clock.advance(5_000);
    await stopping;
    expect(left).toHaveLength(1);
    shared.give('b', left);
    await clock.advance(400_000);
    expect(ends).toMatchObject([{ host: 'b', end: { status: 'expired' } }]);
  });

  it('is answered by a press also if the journal is away for a while (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, b, clock, ends, shared } = hosts;
    await hosts.questionOf('b').ask({ ...place, to: 'two' }, deploy);
    await clock.advance(100);
    const press = b.channel.sent[0]?.interactive?.buttons?.[0]?.id ?? '';
    let reads = 0;
    shared.onRead = (host, namespace) => {
      if (host !== 'a' || namespace !== '/questions/asking' || ++reads === 1 || reads > 3) return;
      throw journalError('database-io', { path: 'memory', problem: 'no answer' });
    };
    await a.channel.receive({ text: '', press, conversation: 'two' }, '1');
    await clock.advance(10_000);
    expect(reads).toBeGreaterThan(3);
    expect(ends).toMatchObject([{ end: { status: 'answered', answer: 'Yes' } }]);
    expect(await hosts.states()).toContain('1 answer');
  });

  it.each([
    ['question', '/questions/asking'],
    ['place of it', '/questions-in'],
  ])(
    'of a host that dies when it has persisted the %s is sent by the host that asks with its key, and is answered (extensions-that-act §7.2, durability §12.11)',
    async (_, last) => {
      await using hosts = await askingHosts();
      const { a, clock, ends, shared } = hosts;
      const dead = new Promise<void>(() => undefined);
      shared.onValue = (host, namespace) => (host === 'a' && namespace === last ? dead : undefined);
      void hosts.questionOf('a').ask(place, deploy, { key: 'k' });
      await clock.advance(100);
      expect(hosts.asked()).toEqual([0, 0]);
      const asking = hosts.questionOf('b').ask(place, deploy, { key: 'k' });
      await clock.advance(100);
      await asking;
      await clock.advance(100);
      expect(hosts.asked()).toEqual([0, 1]);
      shared.onValue = () => undefined;
      await a.channel.receive({ text: 'yes', conversation: 'one' }, '1'); // of a partition of host b
      await clock.advance(120_000);
      expect(ends).toMatchObject([{ end: { status: 'answered', answer: 'Yes' } }]);
      expect([await hosts.rows(), hosts.asked()]).toEqual([0, [0, 1]]);
    },
  );

  it('is refused if the journal has no room for its place, and is not asked later (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { clock, shared } = hosts;
    shared.fullOf = '/questions-in';
    const asking = hosts.questionOf('a').ask(place, deploy, { key: 'k' });
    await expect(asking).rejects.toMatchObject({ code: 'question-full' });
    shared.fullOf = undefined;
    await clock.advance(120_000);
    expect([hosts.asked(), await hosts.rows()]).toEqual([[0, 0], 0]);
    await hosts.questionOf('b').ask(place, deploy, { key: 'k' });
    await clock.advance(100);
    expect(hosts.asked()).toEqual([0, 1]);
  });

  it('of a host that dies before it has a place is sent at once by the host that takes its partition, and is answered (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, ends, shared } = hosts;
    const dead = new Promise<void>(() => undefined);
    shared.onValue = (host, namespace) =>
      host === 'a' && namespace === '/questions/asking' ? dead : undefined;
    void hosts.questionOf('a').ask(place, deploy);
    await clock.advance(60_000);
    expect(hosts.asked()).toEqual([0, 0]);
    shared.give('b', shared.all);
    await clock.advance(2_000);
    expect(hosts.asked()).toEqual([0, 1]);
    await a.channel.receive({ text: 'yes', conversation: 'one' }, '1');
    await clock.advance(5_000);
    expect(ends).toMatchObject([{ end: { status: 'answered', answer: 'Yes' } }]);
  });

  it('that a host takes back, since it could not send it, is answered if another host asks it meanwhile (durability §12.11)', async () => {
    await using hosts = await askingHosts();
    const { a, clock, ends, shared } = hosts;
    shared.give('b', shared.all, { isAsleep: true }); // host a does not know that it has lost its partition
    const other = deferred();
    let writes = 0;
    shared.onValue = (host, namespace) =>
      host === 'a' && namespace === '/questions/asking' && ++writes === 2
        ? other.promise // the row is gone, and its place is not
        : undefined;
    const refused = expect(
      hosts.questionOf('a').ask(place, deploy, { key: 'k' }),
    ).rejects.toMatchObject({ code: 'journal-lost' });
    await clock.advance(100);
    expect(writes).toBe(2);
    const asking = hosts.questionOf('b').ask(place, deploy, { key: 'k' });
    await clock.advance(100);
    await asking;
    other.resolve();
    await clock.advance(100);
    await refused;
    expect(hosts.asked()).toEqual([0, 1]);
    await a.channel.receive({ text: 'yes', conversation: 'one' }, '1');
    await clock.advance(120_000);
    expect(ends).toMatchObject([{ end: { status: 'answered', answer: 'Yes' } }]);
    expect(await hosts.rows()).toBe(0);
  });
});
