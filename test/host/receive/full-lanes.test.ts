import { describe, expect, it } from 'vitest';
import { held } from '../../support/held-agent.js';
import { twoHosts } from '../../support/two-hosts.js';

const said = (text: string) => ({ text, conversation: 'one' });

/** Two hosts with a conversation that three messages fill, whose agent answers when it is let. Host a has another part. */
async function fullHosts(whenLaneFull: 'refuse' | 'drop') {
  const { provider, release } = held();
  const hosts = await twoHosts({
    ...{ agents: [{ id: 'main', provider }], laneCapacity: 3, whenLaneFull },
    failureText: ({ code }) => code,
  });
  const { a, b, clock, shared } = hosts;
  const one = shared.partOf(JSON.stringify(['scripted', 'default', 'one', '']));
  const other = shared.all.find((part) => part !== one) ?? one;
  shared.give('a', [other]);
  return {
    ...{ ...hosts, release },
    /** Has the hosts hear messages by turns, the one without the conversation first. */
    say: async (from: number, to: number) => {
      for (let at = from; at <= to; at++) {
        await (at % 2 === 1 ? a : b).channel.receive(said(`${at}`), `${at}`);
        await clock.advance(100);
      }
    },
  };
}

describe('a conversation that is full, of hosts on one journal', () => {
  it('has further messages refused by each host that hears one, which tells one sender (durability §8.2, durability §12.5)', async () => {
    await using hosts = await fullHosts('refuse');
    const { a, b, clock } = hosts;
    await hosts.say(1, 8);
    const states = ['1 handling', '2 accepted', '3 accepted'];
    const dead = [4, 5, 6, 7, 8].map((at) => `${at} failed`);
    expect(await hosts.states()).toEqual([...states, ...dead]);
    expect([a.texts(), b.texts()]).toEqual([['busy'], ['busy']]);
    expect([a, b].map(({ host }) => host.stats().dropped)).toEqual([2, 3]);
    expect([a, b].flatMap(({ channel }) => channel.acknowledged)).toHaveLength(8);
    expect([a, b].flatMap(({ ends }) => ends)).toMatchObject(
      ['5', '7', '4', '6', '8'].map((updateId) => ({
        ...{ updateId, status: 'failed' },
        reason: 'it was not taken in: too many messages wait',
      })),
    );
    hosts.release();
    await clock.advance(5_000);
    expect(b.texts()).toEqual(['busy', 'answer to 1', 'answer to 2', 'answer to 3']);
    await a.channel.receive(said('9'), '9');
    await clock.advance(5_000);
    expect(b.texts().at(-1)).toBe('answer to 9');
    expect((await hosts.states()).at(-1)).toBe('9 answered');
  });

  it('has the message ended that a host without a part hears, which tells none of its senders (durability §12.5)', async () => {
    await using hosts = await fullHosts('refuse');
    const { a, clock, shared } = hosts;
    shared.give('b', shared.all);
    await hosts.say(1, 5);
    await clock.advance(100);
    expect((await hosts.states()).slice(3)).toEqual(['4 failed', '5 failed']);
    expect(a.texts()).toEqual([]);
    expect(a.ends).toMatchObject([
      { updateId: '5', status: 'failed', reason: 'it was not taken in: too many messages wait' },
    ]);
    expect(a.host.stats().deadLetters).toBe(1);
  });

  it('tells a sender again when half of the room was free meanwhile (durability §8.2)', async () => {
    await using hosts = await fullHosts('refuse');
    const { a, clock } = hosts;
    await hosts.say(1, 7);
    hosts.release();
    await clock.advance(5_000);
    await Promise.all([11, 13, 15, 17, 19].map((at) => a.channel.receive(said(`${at}`), `${at}`)));
    await clock.advance(5_000);
    expect(a.texts()).toEqual(['busy', 'busy']);
  });

  it('has further messages dropped without a word if hosts are told to, as dead letters that may be tried again (durability §8.3, durability §12.5)', async () => {
    await using hosts = await fullHosts('drop');
    const { a, b, clock, shared } = hosts;
    await hosts.say(1, 5);
    expect((await hosts.states()).slice(3)).toEqual(['4 failed', '5 failed']);
    hosts.release();
    await clock.advance(5_000);
    expect([a.texts(), b.texts().length]).toEqual([[], 3]);
    const [dead] = await shared.of('b').updates({ states: ['dead'] });
    await shared.of('b').retry(dead?.eventId ?? '');
    await b.channel.receive(said('7'), '7');
    await clock.advance(5_000);
    expect(b.texts().slice(3)).toEqual(['answer to 4', 'answer to 7']);
  });
});
