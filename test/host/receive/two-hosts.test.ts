import { describe, expect, it } from 'vitest';
import { select } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';
import { twoHosts } from '../../support/two-hosts.js';

const greeting = { channel: 'scripted', accountId: 'default', to: 'ada', content: 'hi' };

const said = (conversation: string, text: string) => ({ text, conversation });

describe('two hosts on one journal', () => {
  it('keep and acknowledge what either hears, and the one that has its partition handles it (durability §12.4)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock } = hosts;
    await a.channel.receive(said('one', 'hello'), '1');
    expect(a.channel.acknowledged.map(({ updateId }) => updateId)).toEqual(['1']);
    await clock.advance(500);
    expect([a.texts(), b.texts()]).toEqual([[], ['hello']]);
    expect(await hosts.states()).toEqual(['1 answered']);
    expect(a.of('ingress.received')).toEqual([]);
    const { receivedAtMs } = b.of('ingress.received')[0]?.payload ?? {};
    expect(receivedAtMs).toBe(a.clock.now() - 500);
  });

  it('keep the order of a conversation, whichever of them hears a message (durability §12.5)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock } = hosts;
    const texts = Array.from({ length: 12 }, (_, at) => `${at}`);
    for (const [at, text] of texts.entries()) {
      await (at % 3 === 0 ? b : a).channel.receive(said('one', text), text);
      if (at % 4 === 0) await clock.advance(30);
    }
    await clock.advance(5_000);
    expect(b.texts()).toEqual(texts);
    expect(a.texts()).toEqual([]);
  });

  it('begin no message before an older one that the other has taken in, and of which nobody has told (durability §12.5)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    shared.give('nobody', shared.all); // so that nobody is told
    await a.channel.receive(said('one', 'first'), '1');
    shared.give('b', shared.all, { isUntold: true });
    await b.channel.receive(said('one', 'second'), '2');
    await clock.advance(1_000);
    expect(b.texts()).toEqual(['first', 'second']);
  });

  it('begin no message before an older one of a busy conversation, of which nobody has told (durability §12.5)', async () => {
    await using hosts = await twoHosts({ lanes: { whenFull: 'wait' } });
    const { a, b, clock, shared } = hosts;
    await b.channel.receive(said('one', 'first'), '1');
    await clock.advance(20); // its turn runs
    shared.isQuiet = true;
    await a.channel.receive(said('one', 'second'), '2');
    await b.channel.receive(said('one', 'third'), '3');
    await clock.advance(2_000);
    expect(b.texts()).toEqual(['first', 'second', 'third']);
  });

  it('handle a message whose partition is lost and comes back before its turn has ended (durability §12.3)', async () => {
    await using hosts = await twoHosts();
    const { b, clock, shared } = hosts;
    await b.channel.receive(said('one', 'hello'), '1');
    await clock.advance(20);
    shared.give('nobody', shared.all);
    shared.give('b', shared.all);
    await clock.advance(5_000);
    expect(b.texts()).toEqual(['hello']);
  });

  it('handle what has come for a partition that they have taken while they started (durability §12.5)', async () => {
    const clock = virtualClock();
    const shared = sharedJournal(clock);
    const everyHost = { clock, channel: scriptedChannel({ everyHost: true }) };
    await using a = await hostLab({ ...everyHost, journal: shared.of('a') });
    await a.channel.receive(said('one', 'hello'), '1');
    const journal = shared.of('b');
    const sends: typeof journal.sends = (filter) => {
      shared.give('b', shared.all); // it has read what is open, and does not listen yet
      return journal.sends(filter);
    };
    shared.give('b', [0]);
    const channel = scriptedChannel({ everyHost: true });
    await using b = await hostLab({ clock, channel, journal: { ...journal, sends } });
    await clock.advance(5_000);
    expect(b.texts()).toEqual(['hello']);
  });

  it('stop a turn by the command that the other one hears (durability §12.4)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock } = hosts;
    await b.channel.receive(said('one', 'work'), '1');
    await clock.advance(50);
    await a.channel.receive(said('one', '/stop'), '2');
    await clock.advance(500);
    expect(await hosts.states()).toEqual(['1 aborted', '2 command']);
    expect(b.texts()).toHaveLength(1);
  });

  it.each([false, true])(
    'hand a message over when its partition is lost, and the one that lost it writes and sends nothing more; it sleeps: %s (durability §12.3)',
    async (isAsleep) => {
      await using hosts = await twoHosts();
      const { a, b, clock, shared } = hosts;
      await b.channel.receive(said('one', 'hello'), '1');
      await clock.advance(50); // the turn runs at b
      shared.give('a', shared.all, { isAsleep });
      await clock.advance(30_000);
      expect([a.texts(), b.texts()]).toEqual([['hello'], []]);
      expect(await hosts.states()).toEqual(['1 answered']);
      expect(b.host.state).toBe('running');
      expect(b.host.stats()).toMatchObject({ waiting: 0, running: 0 });
      await b.channel.receive(said('one', 'again'), '2');
      await clock.advance(1_000);
      expect([a.texts(), b.texts()]).toEqual([['hello', 'again'], []]);
    },
  );

  it('hand over what waits, in its order, when a partition moves to and fro (durability §12.5)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    const texts = Array.from({ length: 6 }, (_, at) => `${at}`);
    for (const text of texts) await a.channel.receive(said('one', text), text);
    for (const owner of ['a', 'b', 'a', 'b']) {
      await clock.advance(150);
      shared.give(owner, shared.all);
    }
    await clock.advance(60_000);
    const all = await hosts.states();
    expect(all).toEqual(texts.map((text) => `${text} answered`));
    const sent = (await shared.of('a').sends()).filter(({ state }) => state === 'sent');
    expect(sent.map(({ correlationId }) => correlationId)).toEqual([
      ...new Set(sent.map(({ correlationId }) => correlationId)),
    ]);
    expect([...a.texts(), ...b.texts()].toSorted()).toEqual(texts);
  });

  it('send what no message asked for from a host with any partition of its own, and from no other (durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, shared } = hosts;
    shared.give('a', [0]);
    expect(await a.host.send(greeting)).toMatchObject({ status: 'sent' });
    expect(await shared.of('a').sends()).toMatchObject([{ state: 'sent' }]);
    shared.give('b', shared.all);
    await expect(a.host.send(greeting)).rejects.toThrow('other hosts have all partitions');
  });

  it('bring a send that nobody had asked for to its end when its partition is taken, and no send that is under way (durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, b, clock, shared } = hosts;
    const fence = shared.of('b').ownership.fenceOf(3);
    if (fence === undefined) throw new Error('it is there');
    const about = {
      channel: 'scripted',
      accountId: 'default',
      kind: 'unprompted',
      fingerprint: 'f',
    };
    const { fingerprint: _, ...named } = about;
    const emitted = { ...named, to: 'ada', content: 'left', explicit: true, streaming: false };
    const body = JSON.stringify({ ...emitted, attachments: [], metadata: {} });
    await shared.of('b').prepare(fence, { sendId: 's-1', ...about, body });
    await clock.advance(2_000);
    expect([...a.texts(), ...b.texts()]).toEqual([]); // it looks as one that is under way
    shared.give('a', [3]);
    await clock.advance(2_000);
    expect([a.texts(), b.texts()]).toEqual([['left'], []]);
    shared.give('b', [3]);
    await clock.advance(2_000);
    expect(b.texts()).toEqual([]);
  });

  it('bring such a send to its end also if the journal is away when its partition is taken (durability §12.6)', async () => {
    await using hosts = await twoHosts();
    const { a, clock, shared } = hosts;
    const fence = shared.of('b').ownership.fenceOf(3);
    if (fence === undefined) throw new Error('it is there');
    const named = { channel: 'scripted', accountId: 'default', kind: 'unprompted' };
    const emitted = { ...named, to: 'ada', content: 'left', explicit: true, streaming: false };
    const body = JSON.stringify({ ...emitted, attachments: [], metadata: {} });
    await shared.of('b').prepare(fence, { sendId: 's-1', fingerprint: 'f', ...named, body });
    shared.isAway = true;
    shared.give('a', [3]);
    await clock.advance(2_000);
    shared.isAway = false;
    await clock.advance(2_000);
    expect(a.texts()).toEqual(['left']);
  });

  it('refuse an update that cannot be persisted whole: the other could not handle it (durability §12.7)', async () => {
    await using hosts = await twoHosts({ journal: { maxUpdateLength: 100 } });
    const { a, b, clock } = hosts;
    await a.channel.receive(said('one', 'x'.repeat(200)), '1');
    await clock.advance(1_000);
    expect(a.channel.acknowledged).toEqual([]);
    expect(await hosts.states()).toEqual([]);
    const told = a.log.entries.filter(({ message }) => /was not taken in/.test(message));
    expect(told.map(({ fields }) => String(fields['error']))).toEqual([
      expect.stringContaining('its body cannot be persisted'),
    ]);
    expect([...a.ends, ...b.ends]).toEqual([]);
  });

  it('connect an account once, by the host that has its partition, which handles all its messages (durability §12.9)', async () => {
    await using hosts = await twoHosts({ channel: { everyHost: false } });
    const { a, b, clock, shared } = hosts;
    const running = () => [a, b].map(({ channel }) => channel.running.size);
    expect(running()).toEqual([0, 1]);
    await b.channel.receive(said('one', 'first'), '1');
    await clock.advance(20); // its turn runs at b
    shared.give('a', [shared.partitionOf(JSON.stringify(['scripted', 'default']))]);
    await clock.advance(1_000);
    expect(running()).toEqual([1, 0]);
    expect([a.texts(), b.texts()]).toEqual([['first'], []]);
    await a.channel.receive(said('two', 'second'), '2');
    await clock.advance(1_000);
    expect(a.texts()).toEqual(['first', 'second']);
    expect(b.host.state).toBe('running');
  });

  it('give the partition of an account up when the account is stopped, and not before (durability §12.9)', async () => {
    await using hosts = await twoHosts({ channel: { everyHost: false } });
    const { a, b, clock, shared } = hosts;
    const stopped: string[] = [];
    let stop = (): void => undefined;
    const { stopAccount } = b.channel;
    Object.assign(b.channel, {
      stopAccount: async (accountId: string) => {
        stopped.push('begun');
        await new Promise<void>((resolve) => {
          stop = resolve;
        });
        await stopAccount(accountId);
      },
    });
    const partition = shared.partitionOf(JSON.stringify(['scripted', 'default']));
    const drained = shared.drain(partition).then(() => stopped.push('drained'));
    await clock.advance(1_000);
    expect(stopped).toEqual(['begun']);
    stop();
    await drained;
    shared.give('a', [partition]);
    await clock.advance(1_000);
    expect([a, b].map(({ channel }) => channel.running.size)).toEqual([1, 0]);
    shared.give('b', [partition]);
    await clock.advance(1_000);
    const unending = shared.drain(partition).then(() => stopped.push('drained'));
    await clock.advance(9_000);
    expect(stopped).toEqual(['begun', 'drained', 'begun']);
    await clock.advance(1_000); // others wait no longer for one that does not end
    await unending;
    stop();
  });

  it('let others have their partitions when they are asked to stop, unless their input has ended (durability §11.11)', async () => {
    await using hosts = await twoHosts();
    await hosts.a.host.stop({ timeoutMs: Number.POSITIVE_INFINITY });
    expect([...hosts.shared.withdrawn]).toEqual([]);
    await hosts.b.host.stop();
    expect([...hosts.shared.withdrawn]).toEqual(['b']);
  });

  it('connect an account again whose partition comes back while it is being stopped (durability §12.9)', async () => {
    await using hosts = await twoHosts({ channel: { everyHost: false } });
    const { a, b, clock, shared } = hosts;
    shared.give('a', shared.all);
    shared.give('b', shared.all);
    await clock.advance(1_000);
    expect([a, b].map(({ channel }) => channel.running.size)).toEqual([0, 1]);
    await b.channel.receive(said('one', 'hello'), '1');
    await clock.advance(1_000);
    expect(b.texts()).toEqual(['hello']);
  });

  it('connect an account again, once, whose channel never ends its stop, when the time for that is over (durability §12.9)', async () => {
    await using hosts = await twoHosts({ channel: { everyHost: false } });
    const { b, clock, shared } = hosts;
    const partition = shared.partitionOf(JSON.stringify(['scripted', 'default']));
    const { startAccount } = b.channel;
    let starts = 0;
    Object.assign(b.channel, {
      startAccount: (...given: Parameters<typeof startAccount>) => {
        starts++;
        return startAccount(...given);
      },
      stopAccount: () => new Promise<void>(() => undefined),
    });
    shared.give('a', [partition]);
    shared.give('b', [partition]);
    await clock.advance(9_900);
    expect(starts).toBe(0);
    await clock.advance(60_000);
    expect(starts).toBe(1);
    expect(b.log.messages('error')).toContain(
      'stopAccount of scripted has not ended after 10000 ms; it is left',
    );
    await b.channel.receive(said('one', 'hello'), '1');
    await clock.advance(1_000);
    expect(b.texts()).toEqual(['hello']);
    Object.assign(b.channel, { stopAccount: async () => undefined });
  });

  describe('with one session for two conversations', () => {
    /** Conversation one is of a partition of host a, and two of one of host b. */
    const sharing = async () => {
      const hosts = await twoHosts({
        contribute: (kernel) =>
          kernel.contribute({
            ...{ extensionId: 'test', id: 'one-session' },
            family: 'routing.resolving',
            class: 'resolver',
            handler: () => select({ agentId: 'main', sessionKey: 'shared' }),
          }),
      });
      const { shared } = hosts;
      const partitionOf = (conversation: string) =>
        shared.partitionOf(JSON.stringify(['scripted', 'default', conversation, '']));
      expect(partitionOf('one')).not.toBe(partitionOf('two'));
      shared.give('a', [partitionOf('one')]);
      await hosts.clock.advance(10);
      const prompts = async () => {
        const { sessionId = '' } = (await hosts.store.loadSession('shared')) ?? {};
        const all = await hosts.store.readTranscript(sessionId);
        const others = all.filter(({ role }) => role !== 'assistant');
        return others.map(({ role, content }) => `${role} ${/\d/.exec(JSON.stringify(content))}`);
      };
      return { ...hosts, partitionOf, prompts };
    };

    it('take its turns one after the other, in the order of the messages (durability §12.8)', async () => {
      await using hosts = await sharing();
      const { a, b, clock } = hosts;
      for (let at = 0; at < 8; at++)
        await (at % 3 === 0 ? b : a).channel.receive(
          said(at % 2 ? 'two' : 'one', `${at}`),
          `${at}`,
        );
      await clock.advance(20_000);
      expect(a.texts()).toEqual(['0', '2', '4', '6']);
      expect(b.texts()).toEqual(['1', '3', '5', '7']);
      const whole = Array.from({ length: 8 }, (_, at) => [`user ${at}`, `toolResult ${at}`]);
      expect(await hosts.prompts()).toEqual(whole.flat());
      expect(
        await hosts.shared.of('a').keyValues.list('/session-turns', { prefix: '', limit: 9 }),
      ).toEqual([]);
    });

    it('keep a turn among those that wait, also behind one that has ended (durability §12.8)', async () => {
      await using hosts = await sharing();
      const { a, clock, shared } = hosts;
      const { keyValues, accept, updates } = shared.of('a');
      const open = { eventId: 'open', channel: 'elsewhere', accountId: 'x', receivedAtMs: 0 };
      await accept(open);
      const waiting = ['ended', 'open'].map((eventId, seq) => ({ eventId, seq }));
      const quota = { maxKeys: 9, maxBytes: 999 };
      const body = JSON.stringify({ waiting });
      await keyValues.write('/session-turns', 'shared', { body }, { quota });
      await a.channel.receive(said('one', 'first'), '1');
      await clock.advance(300);
      const kept = await keyValues.get('/session-turns', 'shared');
      const ids = (await updates()).map(({ eventId }) => eventId);
      expect(JSON.parse(kept?.body ?? '')).toMatchObject({
        waiting: ids.map((eventId) => ({ eventId })),
      });
      expect(ids).toHaveLength(2);
    });

    it('let a turn wait for its session while the journal is away (durability §12.8)', async () => {
      await using hosts = await sharing();
      const { a, b, clock, shared } = hosts;
      await a.channel.receive(said('one', 'first'), '1');
      await clock.advance(20); // its turn runs at a
      await b.channel.receive(said('two', 'second'), '2');
      await clock.advance(20);
      shared.isAway = true;
      await clock.advance(300);
      shared.isAway = false;
      await clock.advance(5_000);
      expect(await hosts.states()).toEqual(['1 answered', '2 answered']);
    });

    it('go on with the turn of a message whose partition is lost, before the next one (durability §12.8)', async () => {
      await using hosts = await sharing();
      const { a, b, clock, shared, partitionOf } = hosts;
      await a.channel.receive(said('one', 'first'), '1');
      await clock.advance(50); // its turn runs at a
      await b.channel.receive(said('two', 'second'), '2');
      await clock.advance(20);
      shared.give('b', [partitionOf('one')], { isAsleep: true });
      await clock.advance(30_000);
      expect([a.texts(), b.texts()]).toEqual([[], ['first', 'second']]);
      expect(await hosts.states()).toEqual(['1 answered', '2 answered']);
    });
  });
});
