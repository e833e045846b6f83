import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { cancel, type Kernel } from '../../../src/kernel/internal.js';
import { defineExtension, type Question } from '../../../src/sdk/extension/index.js';
import { held } from '../../support/held-agent.js';
import { hostLab } from '../../support/host-lab.js';
import { twoHosts } from '../../support/two-hosts.js';

const said = (text: string) => ({ text, conversation: 'one' });

/** Two hosts with a conversation that three messages fill, whose agent answers when it is let. Host a has another part. */
async function fullHosts(whenFull: 'refuse' | 'drop', contribute?: (kernel: Kernel) => void) {
  const { provider, release } = held();
  const hosts = await twoHosts({
    ...{ agents: [{ id: 'main', provider }], lanes: { capacity: 3, whenFull } },
    failureText: ({ code }) => code,
    ...(contribute !== undefined && { contribute }),
  });
  const { a, b, clock, shared } = hosts;
  const one = shared.partitionOf(JSON.stringify(['scripted', 'default', 'one', '']));
  const other = shared.all.find((partition) => partition !== one) ?? one;
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

  it('has the message ended that a host without a partition hears, which tells none of its senders (durability §12.5)', async () => {
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

/** A veto that cancels each message of more than one letter, and the end of such a message that is refused. */
const vetoLong = (kernel: Kernel) =>
  kernel.contribute({
    ...{ extensionId: 'test', id: 'short', family: 'routing.resolving', class: 'veto' },
    handler: ({ payload }) => (payload.message.content.length > 1 ? cancel('policy') : undefined),
  });
const refused = { status: 'failed', reason: 'it was not taken in: too many messages wait' };

describe('a message that is refused, since its conversation is full,', () => {
  it('is a dead letter also if a veto cancels it, on one host and on several (durability §8.3, durability §12.5)', async () => {
    await using hosts = await fullHosts('refuse', vetoLong);
    await hosts.say(1, 3);
    await hosts.b.channel.receive(said('long'), '4');
    await hosts.clock.advance(100);
    expect(hosts.b.ends).toMatchObject([refused]);
    expect((await hosts.states()).at(-1)).toBe('4 failed');

    const { provider, release } = held();
    const journal = memoryJournal();
    const agents = [{ id: 'main', provider }];
    const options = { lanes: { capacity: 1, whenFull: 'refuse' }, contribute: vetoLong } as const;
    await using lab = await hostLab({ journal, agents, ...options });
    await lab.channel.receive(said('1'), '1');
    expect(await lab.say(said('long'))).toMatchObject(refused);
    expect(await journal.updates({ states: ['dead'] })).toMatchObject([{ outcome: 'failed' }]);
    release();
  });

  it('does not answer an open question (durability §8.2, extensions-that-act §7.4)', async () => {
    const { provider, release } = held();
    const answers: unknown[] = [];
    let confirm: Question<unknown> | undefined;
    const extension = defineExtension({
      id: 'asker',
      setup: (api) => {
        confirm = api.question('confirm', (end) => void answers.push(end));
      },
    });
    await using lab = await hostLab({
      ...{ agents: [{ id: 'main', provider }], extensions: [{ extension }] },
      lanes: { capacity: 1, whenFull: 'refuse' },
    });
    const place = { channel: 'scripted', accountId: 'default', to: 'one' };
    await confirm?.ask(place, { content: 'Sure?', options: ['Yes', 'No'] });
    await lab.channel.receive(said('hello'), '1');
    expect(await lab.say(said('Yes'))).toMatchObject(refused);
    release();
    await lab.clock.advance(1_000);
    expect(answers).toEqual([]);
    expect(await lab.say(said('Yes'))).toMatchObject({ status: 'answer' });
    await lab.clock.advance(1_000);
    expect(answers).toMatchObject([{ status: 'answered', answer: 'Yes' }]);
  });
});
