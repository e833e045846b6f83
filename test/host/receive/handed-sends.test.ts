import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/host/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';

/** Two hosts, of which b has all parts, and connects the account. */
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
    sends: async () => (await shared.of('a').sends()).map(({ state, part }) => [state, part]),
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
    const part = shared.partOf(JSON.stringify(['scripted', 'default']));
    expect(await hosts.sends()).toEqual(['sent', 'sent', 'sent'].map((state) => [state, part]));
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
      error: expect.stringMatching(/no end for 60000 ms.*it is kept, and the host that connects/),
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
