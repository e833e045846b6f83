import { describe, expect, it } from 'vitest';
import { type Journal, memoryStore } from '../../../src/journal/index.js';
import type { ExtensionMessage } from '../../../src/sdk/extension/index.js';
import type { FakeChannelOptions, VirtualClock } from '../../../src/testing/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';

/** Two hosts, of which b has all partitions, and connects the account. */
async function twoHosts() {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  const store = memoryStore();
  const made = (name: string) =>
    hostLab({ clock, store, journal: shared.of(name), channel: scriptedChannel() });
  shared.give('b', shared.all);
  const a = await made('a');
  const b = await made('b');
  return {
    ...{ a, b, clock, shared },
    sends: async () =>
      (await shared.of('a').sends()).map(({ state, slot = 0 }) => [
        state,
        slot % shared.all.length,
      ]),
    [Symbol.asyncDispose]: async () => {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
    },
  };
}

const saying = (content: string) => ({
  ...{ channel: 'scripted', accountId: 'default', to: 'ada', content },
});

describe('a send by an account that another host connects', () => {
  it('is made by that host, in the order in which it was asked, and the host that was asked tells its end (durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    const ends = ['one', 'two', 'three'].map((content) => a.host.send(saying(content)));
    await clock.advance(1_000);
    expect(await Promise.all(ends)).toMatchObject(
      ['one', 'two', 'three'].map((content) => ({ status: 'sent', content })),
    );
    expect([a.texts(), b.texts()]).toEqual([[], ['one', 'two', 'three']]);
    const partition = shared.partitionOf(JSON.stringify(['scripted', 'default']));
    expect(await hosts.sends()).toEqual(
      ['sent', 'sent', 'sent'].map((state) => [state, partition]),
    );
    expect(a.of('egress.preparing')).toEqual([]);
    expect(b.of('egress.preparing')).toHaveLength(3);
  });

  it('fails when nobody has made it in a minute, says so, and is made when a host connects the account (durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    shared.give('nobody', shared.all);
    await clock.advance(1_000);
    const ended = a.host.send(saying('late'));
    await clock.advance(61_000);
    expect(await ended).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        /no end for 60000 ms.*it is persisted, and the host that connects/,
      ),
    });
    shared.give('b', shared.all);
    await clock.advance(2_000);
    expect(b.texts()).toEqual(['late']);
    expect((await shared.of('a').updates()).map(({ state }) => state)).toEqual(['ended']);
  });

  it('is made once, if the host that makes it loses the account meanwhile (durability §7.2, durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    Object.assign(b.channel, { send: () => new Promise(() => undefined) });
    const ended = a.host.send(saying('once'));
    await clock.advance(1_000);
    expect((await hosts.sends()).map(([state]) => state)).toEqual(['sending']);
    shared.give('a', shared.all);
    await clock.advance(5_000);
    expect(await ended).toMatchObject({ status: 'failed', content: 'once' });
    expect(a.texts()).toEqual([]);
    expect(await hosts.sends()).toHaveLength(1);
    expect((await shared.of('a').updates()).map(({ state }) => state)).toEqual(['ended']);
  });
});

const accountKey = JSON.stringify(['scripted', 'default']);

/** One of several hosts, with an extension. */
const actingOn = (clock: VirtualClock, journal: Journal, channel: FakeChannelOptions = {}) =>
  actingLab({ clock, journal, store: memoryStore(), channel: scriptedChannel(channel) });

/** Hosts a, b and c, of which b has the partition of the account, and a all others. */
async function threeHosts() {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  const partition = shared.partitionOf(accountKey);
  shared.give('a', shared.all);
  shared.give('b', [partition]);
  const a = await actingOn(clock, shared.of('a'));
  const b = await actingOn(clock, shared.of('b'));
  const c = await actingOn(clock, shared.of('c'));
  return {
    ...{ a, b, c, clock, shared, part: partition },
    [Symbol.asyncDispose]: async () => {
      for (const one of [a, b, c]) await one[Symbol.asyncDispose]();
    },
  };
}

describe('a send of an extension by an account that another host connects', () => {
  it('is ended by the host that takes the account, also if the message that caused it is open elsewhere, and the next one goes out (durability §12.6)', async () => {
    await using hosts = await threeHosts();
    const { a, b, c, clock, shared, part: partition } = hosts;
    const about = { channel: 'elsewhere', accountId: 'x', updateId: '1', receivedAtMs: 0 };
    const other = { lane: '["elsewhere"]', slot: (partition + 1) % shared.all.length, body: '{}' };
    await shared.of('a').accept({ eventId: 'u-1', ...about, ...other });
    const after = { event: { correlationId: 'u-1', metadata: {} } } as ExtensionMessage['after']; // what is read of it
    b.channel.next('hangs');
    const first = await a.api.send({ ...saying('first'), ...(after && { after }) });
    await clock.advance(1_000);
    shared.give('c', [partition]);
    await clock.advance(5_000);
    const second = await a.api.send(saying('second'));
    await clock.advance(5_000);
    const sends = await shared.of('a').sends();
    expect(sends.map((one) => [one.state, one.correlationId])).toEqual([
      ['failed', 'u-1'],
      ['sent', undefined],
    ]);
    expect(await first.ended).toMatchObject({ status: 'failed' });
    expect(await second.ended).toMatchObject({ status: 'sent' });
    expect([b.texts(), c.texts()]).toEqual([[], ['second']]);
  });

  it('is judged once if it is asked for again with its key where the account is being connected by then (durability §12.6)', async () => {
    const clock = virtualClock();
    const shared = sharedJournal(clock);
    await using a = await actingOn(clock, shared.of('a'), {
      accounts: ['slow', 'default'], // one is started after the other
      startAccount: (id) =>
        id === 'slow'
          ? new Promise((resolve) => void clock.setTimeout(resolve, 5_000))
          : Promise.resolve(),
    });
    const keyed = { ...saying('once'), key: 'k' };
    const given = await a.api.send(keyed);
    await clock.advance(61_000);
    expect(await given.ended).toMatchObject({ status: 'failed' });
    shared.give('a', shared.all);
    await clock.advance(2_000);
    const again = await a.api.send(keyed);
    await clock.advance(10_000);
    expect(await again.ended).toMatchObject({ status: 'sent' });
    expect(a.of('egress.preparing')).toHaveLength(1);
    expect(a.texts()).toEqual(['once']);
  });

  it('is of the partition of its account, also while that is being given up (durability §12.6, durability §12.9)', async () => {
    const clock = virtualClock();
    const shared = sharedJournal(clock);
    const partition = shared.partitionOf(accountKey);
    shared.give('b', shared.all);
    let isDraining = false;
    const { ownership, sends, ...journal } = shared.of('b');
    await using a = await actingOn(clock, shared.of('a'));
    await using _b = await actingOn(clock, {
      ...journal,
      // it is given up when the job has begun
      sends: (filter) => {
        isDraining ||= filter?.eventId !== undefined;
        return sends(filter);
      },
      ownership: {
        ...ownership,
        fenceOf: (of) => (isDraining && of === partition ? undefined : ownership.fenceOf(of)),
        partitions: () => ownership.partitions().filter((of) => !isDraining || of !== partition),
      },
    });
    await a.api.send(saying('hi'));
    await clock.advance(5_000);
    expect((await sends()).map((one) => [one.state, (one.slot ?? 0) % 8])).toEqual([
      ['sent', partition],
    ]);
  });

  it('keeps the next one to its address for a minute at most, if nobody brings it to its end (durability §12.6)', async () => {
    await using hosts = await threeHosts();
    const { a, b, clock, shared, part: partition } = hosts;
    const other = (partition + 1) % shared.all.length;
    shared.give('nobody', [other, partition]);
    shared.give('c', [other]);
    const keyed = { ...saying('first'), key: 'k' };
    const first = await a.api.send(keyed);
    const fence = shared.of('c').ownership.fenceOf(other);
    const body = JSON.stringify({ ...saying('first'), kind: 'unprompted' });
    const row = { sendId: first.sendId, kind: 'unprompted', fingerprint: 'f', body };
    if (fence !== undefined) await shared.of('c').prepare(fence, row);
    shared.give('nobody', [other]);
    shared.give('b', [partition]);
    await a.api.send(saying('second'));
    for (let second = 0; second < 70; second++) await clock.advance(1_000);
    expect(b.texts()).toEqual(['second']);
  });
});
