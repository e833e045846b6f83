import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../src/host/outbox/report-of-record.js';
import { journalError } from '../../../src/journal/errors.js';
import type { Journal } from '../../../src/journal/index.js';
import { deferred, type PayloadOf } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { type ScriptedChannelOptions, scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';
import { twoHosts } from '../../support/two-hosts.js';

const said = (text: string) => ({ text, conversation: 'one' });

/** Host b has all partitions, and its lease is over by its own clock for as long as a test says. */
async function stalledHost(
  of: (journal: Journal) => Partial<Journal>,
  channel: ScriptedChannelOptions = {},
) {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  shared.give('b', shared.all);
  const inner = shared.of('b');
  const journal = { ...inner, ...of(inner) };
  const lab = await hostLab({
    clock,
    journal,
    channel: scriptedChannel({ everyHost: true, ...channel }),
  });
  return {
    ...{ lab, clock, shared, journal },
    states: async () =>
      (await inner.updates()).map(
        ({ updateId, state, outcome }) => `${updateId} ${outcome ?? state}`,
      ),
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

/** Host b has a message that host a had begun, with one send. The journal keeps no end of a send while it is away. */
async function leftMessage(
  {
    kind,
    ...emitted
  }: Pick<PayloadOf<'egress.preparing'>, 'content' | 'streaming'> & {
    readonly kind: string;
  },
  isSending = false,
) {
  let isAway = true;
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  shared.give('a', shared.all);
  const before = shared.of('a');
  const [eventId, channel, accountId] = ['u-1', 'scripted', 'default'];
  const row = { eventId, channel, accountId, updateId: '1', lane: 'one', receivedAtMs: 0 };
  await before.accept({ ...row, body: JSON.stringify(said('1')) });
  const { fence } = await before.begin(eventId);
  const to = { channel, accountId, to: 'one', conversationId: 'one', attachments: [] };
  const fingerprint = fingerprintOf({ content: emitted.content });
  const named = { sendId: 'u-1.1', correlationId: eventId, channel, accountId, fingerprint };
  const body = JSON.stringify({ ...to, kind, metadata: {}, explicit: false, ...emitted });
  await before.prepare(fence, { ...named, kind, body }, isSending);
  shared.give('b', shared.all);
  const inner = shared.of('b');
  const away = () => journalError('database-io', { path: 'memory', problem: 'it is away' });
  const journal: Journal = {
    ...inner,
    endSend: (...given) => (isAway ? Promise.reject(away()) : inner.endSend(...given)),
  };
  const lab = await hostLab({
    ...{ clock, journal },
    channel: scriptedChannel({
      everyHost: true,
      deduplicatesSends: true,
      resendPolicy: { ambiguous: 'resend' },
    }),
  });
  return {
    ...{ lab, clock, shared },
    comeBack: () => {
      isAway = false;
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

describe('a host whose lease is over by its own clock, and which no other host has replaced', () => {
  it('ends its turns, sends nothing, and handles their messages when it is renewed, in their order (durability §11.4, durability §12.3)', async () => {
    await using hosts = await twoHosts();
    const { b, clock, shared } = hosts;
    const texts = ['1', '2', '3'];
    for (const text of texts) await b.channel.receive(said(text), text);
    await clock.advance(20); // the first turn runs
    shared.stall('b');
    await clock.advance(60_000);
    expect(b.texts()).toEqual([]);
    expect(await hosts.states()).toEqual(['1 handling', '2 accepted', '3 accepted']);
    await b.channel.receive(said('4'), '4');
    shared.goOn('b');
    await clock.advance(5_000);
    expect(b.texts()).toEqual([...texts, '4']);
    expect(await hosts.states()).toEqual([...texts, '4'].map((text) => `${text} answered`));
    expect(b.host.stats()).toMatchObject({ waiting: 0, running: 0 });
  });

  it.each(['failed before', 'is under way'])(
    'says nothing again that went out, if the write of its end %s when the lease is over (durability §6.7, durability §12.3)',
    async (how) => {
      const answer = deferred<void>();
      let isAway = true;
      const away = () => journalError('database-io', { path: 'memory', problem: 'it is away' });
      await using host = await stalledHost((journal) => ({
        endSend: async (...given) => {
          if (!isAway) return journal.endSend(...given);
          if (how === 'is under way') await answer.promise;
          throw away();
        },
        endUpdate: (...given) => (isAway ? Promise.reject(away()) : journal.endUpdate(...given)),
      }));
      const { lab, clock, shared } = host;
      for (const text of ['1', '2']) void lab.channel.receive(said(text), text);
      await clock.advance(100);
      expect(lab.texts()).toEqual(['1']);
      shared.stall('b');
      await clock.advance(10_000);
      isAway = false;
      shared.goOn('b');
      await clock.advance(3_000);
      answer.resolve();
      await clock.advance(10_000);
      expect(lab.texts()).toEqual(['1', '2']);
      expect(await host.states()).toEqual(['1 answered', '2 answered']);
      expect((await shared.of('b').sends()).map(({ state }) => state)).toEqual(['sent', 'sent']);
    },
  );

  it('settles a send that its channel had when the lease was over as after a crash, under its key (durability §7.2, durability §11.4)', async () => {
    const hangs = deferred<void>();
    let isFirst = true;
    const keys: string[] = [];
    const channel: ScriptedChannelOptions = {
      deduplicatesSends: true,
      resendPolicy: { ambiguous: 'resend' },
      send: async (permit, sent) => {
        const message = permit.take();
        keys.push(permit.idempotencyKey);
        if (isFirst) sent.push(message);
        if (!isFirst) return { status: 'sent', receipt: { messageId: '1' } };
        isFirst = false;
        await hangs.promise;
        return { status: 'ambiguous', reason: 'it came late' };
      },
    };
    await using hosts = await twoHosts({ channel });
    const { b, clock, shared } = hosts;
    await b.channel.receive(said('1'), '1');
    await clock.advance(1_000);
    expect(keys).toHaveLength(1);
    shared.stall('b');
    await clock.advance(10_000);
    shared.goOn('b');
    await clock.advance(10_000);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(await hosts.states()).toEqual(['1 answered']);
    hangs.resolve();
    await clock.advance(1_000);
    expect((await shared.of('b').sends()).map(({ state }) => state)).toEqual(['sent']);
  });

  it('says a text again whose send was persisted when the lease was over, and did not come to its channel (durability §6.13, durability §11.4)', async () => {
    const prepared = deferred<void>();
    await using host = await stalledHost(
      (journal) => ({
        prepare: async (...given) => {
          await journal.prepare(...given);
          await prepared.promise;
        },
      }),
      {},
    );
    const { lab, clock, shared } = host;
    void lab.channel.receive(said('1'), '1');
    await clock.advance(1_000);
    shared.stall('b');
    prepared.resolve();
    await clock.advance(1_000);
    shared.goOn('b');
    await clock.advance(1_000);
    await clock.advance(10_000);
    expect(lab.texts()).toEqual(['1']);
    const sends = await shared.of('b').sends();
    expect(sends.map(({ state, cause = '' }) => `${state} ${cause}`)).toEqual([
      'failed left-behind',
      'sent ',
    ]);
    expect(lab.ends.map(({ status }) => status)).toEqual(['answered']);
  });

  it('settles what a host before it has left also if the journal failed meanwhile, and then its lease was over (durability §7.2, durability §11.4)', async () => {
    await using left = await leftMessage({ kind: 'stream-opening', content: '', streaming: true });
    const { lab, clock, shared } = left;
    await clock.advance(1_500);
    shared.stall('b');
    left.comeBack();
    await clock.advance(5_000);
    shared.goOn('b');
    await clock.advance(10_000);
    expect(lab.texts()).toEqual(['1']);
    expect(await shared.of('b').updates()).toMatchObject([{ outcome: 'answered' }]);
  });

  it('says nothing again that it has settled, if the end of that is persisted late (durability §6.7, durability §7.2)', async () => {
    await using left = await leftMessage({ kind: 'block', content: '1', streaming: false }, true);
    const { lab, clock, shared } = left;
    await clock.advance(5_000);
    expect(lab.texts()).toEqual(['1']);
    left.comeBack();
    await clock.advance(10_000);
    expect(lab.texts()).toEqual(['1']);
    expect(await shared.of('b').updates()).toMatchObject([{ outcome: 'answered' }]);
  });

  it('handles an update that was persisted long after its write counted as failed, once (durability §8.8, durability §11.7)', async () => {
    let isLate = true;
    let commit = (): unknown => undefined;
    await using host = await stalledHost((journal) => ({
      accept: (...given) => {
        if (!isLate) return journal.accept(...given);
        isLate = false;
        commit = () => journal.accept(...given);
        return Promise.reject(
          journalError('database-io', { path: 'memory', problem: 'no answer' }),
        );
      },
    }));
    const { lab, clock } = host;
    await lab.channel.receive(said('1'), '1');
    await clock.advance(3_000);
    await commit();
    await clock.advance(15_000);
    expect(lab.texts()).toEqual(['1']);
    expect(await host.states()).toEqual(['1 answered']);
    expect(lab.host.stats()).toMatchObject({ resumed: 1 });
  });

  it('leaves such a send to the host that has its partition by then (durability §7.2, durability §12.3)', async () => {
    let isAway = true;
    const away = () => journalError('database-io', { path: 'memory', problem: 'it is away' });
    await using host = await stalledHost((journal) => ({
      endSend: (...given) => (isAway ? Promise.reject(away()) : journal.endSend(...given)),
    }));
    const { lab, clock, shared } = host;
    void lab.channel.receive(said('1'), '1');
    await clock.advance(100);
    shared.stall('b');
    shared.give('a', shared.all);
    isAway = false;
    await clock.advance(10_000);
    expect((await shared.of('a').sends()).map(({ state }) => state)).toEqual(['sending']);
    expect(lab.texts()).toEqual(['1']);
  });

  it('brings a send that nobody had asked for to its end when it is renewed, once (durability §7.2, durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { b, clock, shared } = hosts;
    b.channel.next({ status: 'retry-after', retryAfterMs: 10_000 });
    const report = b.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'hi',
    });
    await clock.advance(1_000);
    shared.stall('b');
    expect(await report).toMatchObject({ status: 'failed' });
    await clock.advance(30_000);
    expect(b.texts()).toEqual([]);
    shared.goOn('b');
    await clock.advance(30_000);
    expect(b.texts()).toEqual(['hi']);
    expect((await shared.of('b').sends()).map(({ state }) => state)).toEqual(['sent']);
  });

  it('stops an account that is connected once, and starts it when it is renewed (durability §12.9)', async () => {
    await using hosts = await twoHosts({ channel: { everyHost: false } });
    const { b, clock, shared } = hosts;
    await clock.advance(100);
    expect([...b.channel.running]).toEqual(['default']);
    shared.stall('b');
    await clock.advance(100);
    expect([...b.channel.running]).toEqual([]);
    shared.goOn('b');
    await clock.advance(15_000);
    expect([...b.channel.running]).toEqual(['default']);
  });
});
