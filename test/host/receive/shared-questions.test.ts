import { describe, expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { askingHosts } from '../../support/asking-hosts.js';

describe('a question to a human of two hosts on one journal', () => {
  it('is answered in a conversation of the other host, by command and by button (durability §12.10)', async () => {
    const to = { channel: 'scripted', accountId: 'default', to: 'two' };
    await using hosts = await askingHosts({ approvals: { to } });
    const { a, clock, ran } = hosts;
    await hosts.deploy('v1');
    expect(hosts.asked()).toEqual([0, 1]);
    await a.channel.receive({ text: `/approve ${hosts.id()}`, conversation: 'two' }, 'command');
    await clock.advance(3_000);
    expect(ran).toEqual(['v1']);
    expect(a.texts()).toContain(`${hosts.id()} is allowed.`);
    await hosts.deploy('v2');
    await hosts.press(1, 'two');
    expect(ran).toEqual(['v1']);
    expect(hosts.b.texts().at(-1)).toContain('a human denied it');
    expect((await hosts.states()).at(-1)).toBe('press 1 answer');
    expect(await hosts.rows()).toEqual([]);
  });

  it('is listed by each host (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { a, clock } = hosts;
    await hosts.deploy('v1');
    await a.channel.receive({ text: '/approvals', conversation: 'two' }, 'list');
    await clock.advance(1_000);
    expect(a.texts().at(-1)).toContain(`${hosts.id()}  60 minutes left  Deploy this?`);
  });

  it.each([false, true])(
    'waits on when its partition moves, is not asked twice, and its answer is used once; the first host sleeps: %s (durability §12.10)',
    async (isAsleep) => {
      await using hosts = await askingHosts();
      const { shared, clock, ran, one, a, b } = hosts;
      await hosts.deploy('v1');
      shared.give('a', [one], { isAsleep });
      await clock.advance(5_000);
      expect(hosts.asked()).toEqual([0, 1]);
      expect(ran).toEqual([]);
      await hosts.press();
      await clock.advance(10_000);
      expect(ran).toEqual(['v1']);
      expect(hosts.asked()).toEqual([0, 1]);
      expect(await hosts.states()).toEqual(['v1 answered', 'press 1 answer']);
      expect(a.texts()).toContain('deployed v1');
      expect(b.texts()).not.toContain('deployed v1');
      expect(await hosts.rows()).toEqual([]);
    },
  );

  it('waits on when the lease of its host is over by its own clock, and is not asked twice (durability §11.4, durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran } = hosts;
    await hosts.deploy('v1');
    shared.stall('b');
    await clock.advance(5_000);
    shared.goOn('b');
    await clock.advance(5_000);
    expect([hosts.asked(), ran]).toEqual([[0, 1], []]);
    await hosts.press();
    await clock.advance(5_000);
    expect([hosts.asked(), ran]).toEqual([[0, 1], ['v1']]);
    expect(await hosts.states()).toEqual(['v1 answered', 'press 1 answer']);
    expect(await hosts.rows()).toEqual([]);
  });

  it('takes the answer that came while no host had its partition (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one } = hosts;
    await hosts.deploy('v1');
    shared.give('nobody', [one]);
    await clock.advance(2_000);
    await hosts.a.channel.receive(
      { text: `/approve ${hosts.id()}`, conversation: 'two' },
      'command',
    );
    await clock.advance(3_000);
    expect([ran, await hosts.rows()]).toEqual([[], ['allowed']]);
    shared.give('a', [one]);
    await clock.advance(3_000);
    expect([ran, await hosts.rows()]).toEqual([['v1'], []]);
    expect(hosts.asked()).toEqual([0, 1]);
  });

  it('is asked by the host that takes its partition, if it was persisted and not asked (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one } = hosts;
    shared.onValue = (host, namespace) => {
      if (host === 'b' && namespace === '/approvals/asked') shared.give('a', [one]);
    };
    await hosts.deploy('v1');
    await clock.advance(5_000);
    expect(hosts.asked()).toEqual([1, 0]);
    await hosts.press();
    expect(ran).toEqual(['v1']);
  });

  it('ends with its time at the host that has its partition by then (durability §12.10)', async () => {
    await using hosts = await askingHosts({ approvals: { timeoutMs: 60_000 } });
    const { shared, clock, ran, one, a } = hosts;
    await hosts.deploy('v1');
    shared.give('a', [one]);
    await clock.advance(50_000);
    expect(await hosts.rows()).toEqual(['pending']);
    await clock.advance(15_000);
    expect(a.texts().at(-1)).toContain('no human allowed it in time');
    expect([ran, await hosts.states()]).toEqual([[], ['v1 answered']]);
  });

  it('holds its conversation and goes on when its partition moves to and fro (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one } = hosts;
    await hosts.deploy('v1');
    await hosts.deploy('v2');
    for (const owner of ['a', 'b', 'a', 'nobody', 'b']) {
      shared.give(owner, [one]);
      await clock.advance(owner === 'b' ? 50 : 2_000);
    }
    expect([ran, hosts.asked()]).toEqual([[], [0, 1]]);
    await hosts.press();
    expect([ran, hosts.asked()]).toEqual([['v1'], [0, 2]]);
    await hosts.press(0, 'one', hosts.b);
    await clock.advance(3_000);
    expect(ran).toEqual(['v1', 'v2']);
    expect((await hosts.states()).slice(0, 2)).toEqual(['v1 answered', 'v2 answered']);
  });

  it('holds its session, also while its partition moves, and its lane is read when it is answered (durability §12.8, durability §12.10)', async () => {
    await using hosts = await askingHosts({ isOneSession: true });
    const { shared, clock, ran, one } = hosts;
    await hosts.deploy('v1', 'one');
    await hosts.deploy('v2', 'two');
    expect(hosts.asked()).toEqual([0, 1]);
    shared.give('a', [one]);
    await clock.advance(5_000);
    expect(hosts.asked()).toEqual([0, 1]);
    const read: string[] = [];
    shared.onRead = (_, of) => read.push(of);
    await clock.advance(60_000);
    expect(read.filter((of) => of.includes('"one"'))).toEqual([]); // its answer wakes it
    await hosts.press();
    await clock.advance(2_000);
    expect([ran, hosts.asked()]).toEqual([['v1'], [1, 1]]);
    await hosts.press(0, 'two', hosts.b);
    expect(ran).toEqual(['v1', 'v2']);
  });

  it('is answered by "always" that was given at the other host (durability §12.10)', async () => {
    await using hosts = await askingHosts({ question: { scopes: ['tool'] } });
    const { ran } = hosts;
    await hosts.deploy('v1', 'one');
    await hosts.press(2);
    await hosts.deploy('v2', 'two');
    expect([ran, hosts.asked()]).toEqual([
      ['v1', 'v2'],
      [0, 1],
    ]);
  });

  it('goes on when a host has taken its answer that has only just lost its partition (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one, a, b } = hosts;
    await hosts.deploy('v1');
    shared.give('a', [one]);
    await clock.advance(20); // host a knows the question, and host b has not forgotten it
    expect(await hosts.rows()).toEqual(['pending']);
    await b.channel.receive({ text: `/approve ${hosts.id()}`, conversation: 'three' }, 'command');
    await clock.advance(5_000);
    expect(ran).toEqual(['v1']);
    expect(a.texts()).toContain('deployed v1');
  });

  it.each([
    ['away when it is persisted', 'pending', false],
    ['away when it is used', 'allowed', true],
    ['away for its answer that was persisted', 'used', false],
  ])('waits for a journal that is %s (durability §12.10)', async (_, state, isWholeAway) => {
    await using hosts = await askingHosts();
    const { shared, clock, ran } = hosts;
    let isOver = false;
    shared.onValue = async (_host, namespace) => {
      const [row] = namespace === '/approvals/asked' ? await hosts.rows() : [];
      if (row !== state || isOver) return;
      isOver = true;
      shared.isAway = isWholeAway;
      if (!isWholeAway) throw journalError('database-io', { path: 'memory', problem: 'no answer' });
    };
    await hosts.deploy('v1');
    await hosts.press();
    shared.isAway = false;
    await clock.advance(5_000);
    expect([isOver, ran, hosts.asked()]).toEqual([true, ['v1'], [0, 1]]);
    expect((await hosts.states())[0]).toBe('v1 answered');
  });

  it('is answered by a press also if the journal is away for a while (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { ran } = hosts;
    await hosts.deploy('v1');
    const failures = hosts.failReads('a', 3);
    await hosts.press(0, 'two');
    expect([failures(), ran]).toEqual([3, ['v1']]);
    expect(await hosts.states()).toEqual(['v1 answered', 'press 1 answer']);
  });

  it('is heard although the rows could not be read when the sign of it came (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { clock, ran } = hosts;
    await hosts.deploy('v1');
    const failures = hosts.failReads('b', 1);
    await hosts.a.channel.receive(
      { text: `/approve ${hosts.id()}`, conversation: 'two' },
      'command',
    );
    await clock.advance(5_000);
    expect([failures(), ran]).toEqual([1, ['v1']]);
  });

  it('is asked anew if the send of it had failed when its partition was taken (judgement §4.16, durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one, b } = hosts;
    b.channel.next(
      { status: 'sent', receipt: { messageId: 'words' } },
      { status: 'rejected', reason: 'too many buttons' },
    );
    shared.onSendEnd = (sendId) => {
      if (sendId.startsWith('approval-')) shared.give('a', [one]);
    };
    await hosts.deploy('v1');
    await clock.advance(5_000);
    await hosts.press();
    expect(ran).toEqual(['v1']);
  });
});
