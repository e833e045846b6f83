import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import type { Kernel } from '../../../src/kernel/internal.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { testFolder } from '../../support/folder.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';

/** How many messages the crowd has that a journal keeps: 1,000 as a rule, 10,000 before a release. */
const crowd = Number(process.env['CROWD_MESSAGES'] ?? 1_000);

/** An agent whose turns end when the test says so, in the order in which they began. */
function held() {
  const waiting: (() => void)[] = [];
  const begun: string[] = [];
  const echo = echoProvider();
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      begun.push(request.prompt);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        request.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      yield* echo.run(request);
    },
  };
  return { provider, begun, release: () => waiting.shift()?.() };
}

/** Lets the event loop turn, and no time pass, until something is so. */
async function until(lab: HostLab, isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 5_000) throw new Error('it never came to this');
    await lab.clock.advance(0);
  }
}

async function settled(lab: HostLab): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await lab.clock.advance(0);
}

/** Routes messages by their first word to the agent of that name, and all of them to one session if one is given. */
function routed(sessionKey?: string): Pick<Parameters<typeof hostLab>[0] & object, 'contribute'> {
  return {
    contribute: (kernel: Kernel) =>
      kernel.contribute({
        family: 'routing.resolving',
        class: 'resolver',
        extensionId: 'test',
        id: 'by-word',
        handler: ({ payload: { message, agents } }) => ({
          kind: 'select',
          target: {
            agentId: agents.find((id) => message.content.startsWith(id)) ?? 'main',
            ...(sessionKey !== undefined && message.content !== 'alone' && { sessionKey }),
          },
          explicit: true,
          rank: 1,
        }),
      }),
  };
}

const say = (lab: HostLab, text: string, conversation = text) =>
  void lab.channel.receive({ text, conversation, from: conversation }, `u-${conversation}-${text}`);

describe('M6: messages that run at once', () => {
  it('are so many and no more; those of others wait, first come first served (durability §8.5)', async () => {
    const { provider, begun, release } = held();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      lanes: { maxRunning: 3 },
    });
    const texts = Array.from({ length: 12 }, (_, at) => `m-${at}`);
    for (const text of texts) say(lab, text);
    for (let ended = 0; ended < texts.length; ended++) {
      await until(lab, () => begun.length === Math.min(ended + 3, texts.length));
      await settled(lab);
      expect(begun).toEqual(texts.slice(0, ended + 3));
      expect(lab.host.stats().running).toBe(Math.min(3, texts.length - ended));
      release();
    }
    await until(lab, () => lab.texts().length === texts.length);
    expect(lab.texts()).toEqual(texts);
    expect(lab.host.stats()).toMatchObject({ running: 0, waiting: 0 });
  });

  it('of a conversation that writes much take turns with those of others (durability §8.5)', async () => {
    const { provider, begun, release } = held();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      lanes: { maxRunning: 1 },
    });
    for (let at = 0; at < 5; at++) say(lab, `a-${at}`, 'a');
    for (const text of ['b', 'c']) say(lab, text);
    for (let ended = 1; ended <= 7; ended++) {
      await until(lab, () => begun.length === ended);
      release();
    }
    expect(begun.slice(0, 4)).toEqual(['a-0', 'b', 'c', 'a-1']);
  });

  it('do not block /stop, nor a message that nobody asked for (durability §8.5)', async () => {
    const { provider, begun } = held();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      lanes: { maxRunning: 2 },
    });
    for (const text of ['a', 'b', 'c']) say(lab, text);
    await until(lab, () => begun.length === 2);
    const sent = lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'a reminder',
    });
    await settled(lab);
    expect(await sent).toMatchObject({ status: 'sent' });
    say(lab, '/stop', 'a');
    await until(lab, () => begun.length === 3);
    expect(lab.texts()).toEqual(['a reminder', 'Stopped.']);
  });

  it('of an agent with a limit of its own never fill the host (durability §8.6)', async () => {
    const { provider, begun, release } = held();
    await using lab = await hostLab({
      agents: [
        { id: 'slow', provider, maxRunning: 1 },
        { id: 'fast', provider: { ...echoProvider(), id: 'fast' } },
      ],
      lanes: { maxRunning: 2 },
      ...routed(),
    });
    for (let at = 0; at < 6; at++) say(lab, `slow ${at}`);
    say(lab, 'fast');
    await until(lab, () => lab.texts().includes('fast'));
    expect(begun).toEqual(['slow 0']);
    for (let ended = 1; ended <= 6; ended++) {
      await until(lab, () => begun.length === ended);
      await settled(lab);
      expect(begun).toHaveLength(ended); // never two at once
      release();
    }
    await until(lab, () => lab.host.stats().waiting === 0);
    expect(lab.host.stats().running).toBe(0);
  });

  it('of many conversations that share a session never fill the host (durability §8.6)', async () => {
    const { provider, begun, release } = held();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      lanes: { maxRunning: 2 },
      ...routed('shared'),
    });
    for (let at = 0; at < 5; at++) say(lab, `m-${at}`);
    say(lab, 'alone');
    await until(lab, () => begun.includes('alone'));
    expect(begun).toEqual(['m-0', 'alone']);
    while (lab.host.stats().waiting > 0) {
      release();
      await settled(lab);
    }
    expect(begun.filter((text) => text !== 'alone')).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4']);
  });

  it('of one sender that wait for his share are handled before a host ends whose input has ended (durability §8.5, durability §8.8)', async () => {
    const { provider, begun, release } = held();
    const agents = [{ id: 'main', provider }];
    const lab = await hostLab({ journal: memoryJournal(), agents, lanes: { maxRunning: 4 } });
    const texts = ['m-0', 'm-1', 'm-2', 'm-3', 'm-4'];
    for (const text of texts) {
      await lab.channel.receive({ text, conversation: text, from: 'ada' }, text);
      await settled(lab);
    }
    expect(begun).toEqual(['m-0', 'm-1']);
    lab.channel.end();
    let isStopped = false;
    void lab.host.stopped.then(() => {
      isStopped = true;
    });
    await until(lab, () => {
      release();
      return isStopped;
    });
    expect(lab.texts().toSorted()).toEqual(texts);
  });

  it('of one sender keep his share until the journal has their ends: those of others find a place (durability §8.5, durability §8.9)', async () => {
    const inner = memoryJournal();
    let go = (): void => undefined;
    const isBack = new Promise<void>((resolve) => {
      go = resolve;
    });
    const journal: Journal = {
      ...inner,
      endUpdate: (...given) => isBack.then(() => inner.endUpdate(...given)),
    };
    await using lab = await hostLab({ journal, lanes: { maxRunning: 2 } });
    for (const [text, from] of [
      ['ada one', 'ada'],
      ['ada two', 'ada'],
      ['bob', 'bob'],
    ] as const) {
      await lab.channel.receive({ text, conversation: text, from }, text);
      await settled(lab);
    }
    expect(lab.texts()).toEqual(['ada one', 'bob']);
    go();
    await until(lab, () => lab.ends.length === 3);
    expect(lab.texts()).toEqual(['ada one', 'bob', 'ada two']);
  });

  it('begin a few in a turn of the event loop, so that a crowd handed in at once lets timers and sockets have theirs (durability §8.7)', async () => {
    const echo = echoProvider();
    let now = 0;
    let most = 0;
    const provider: AgentProvider = {
      ...echo,
      run(request) {
        most = Math.max(most, ++now);
        return echo.run(request);
      },
    };
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    let isOver = false;
    let turns = 0;
    const turn = (): void => {
      now = 0;
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const all = 2_000;
    for (let at = 0; at < all; at++) say(lab, 'hi', `c-${at}`);
    while (lab.channel.sent.length < all) await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    expect(most).toBeLessThanOrEqual(64);
    expect(turns).toBeGreaterThan(all / 64);
  });

  it(`that are handed in at once, ${crowd} of them, wait in the journal's file: few are in memory, few begin in a turn of the event loop, all are answered (durability §8.7, durability §8.8)`, async () => {
    const echo = echoProvider();
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let begunNow = 0;
    let mostBegun = 0;
    const provider: AgentProvider = {
      ...echo,
      async *run(request) {
        mostBegun = Math.max(mostBegun, ++begunNow);
        await gate;
        yield* echo.run(request);
      },
    };
    const journal = await openJournal(join(testFolder(), 'sluice.db'));
    await using lab = await hostLab({ journal, agents: [{ id: 'main', provider }] });
    let mostWaiting = 0;
    /** Lets the event loop turn until something is so, and looks at the host in each turn. */
    const turnUntil = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        await new Promise((resolve) => setImmediate(resolve));
        begunNow = 0;
        mostWaiting = Math.max(mostWaiting, lab.host.stats().waiting);
      }
    };
    let kept = 0;
    for (let at = 0; at < crowd; at++)
      void lab.channel
        .receive({ text: 'hi', conversation: `c-${at}`, from: `p-${at}` }, `${at}`)
        .then(() => kept++);
    await turnUntil(() => kept === crowd && lab.host.stats().running === 64);
    expect(mostWaiting).toBeLessThanOrEqual(128); // 64 that run, and as many that may run next
    expect(lab.host.stats().parked).toBeGreaterThanOrEqual(crowd - 128);
    go();
    await turnUntil(() => lab.ends.length === crowd);
    expect(lab.texts()).toHaveLength(crowd);
    expect(new Set(lab.ends.map(({ updateId }) => updateId)).size).toBe(crowd);
    expect(lab.ends.filter(({ status }) => status !== 'answered')).toEqual([]);
    expect(mostWaiting).toBeLessThanOrEqual(256); // also those that gave their place back, and whose end is written
    expect(mostBegun).toBeLessThanOrEqual(64);
    expect(await journal.updates({ states: ['accepted', 'handling'] })).toEqual([]);
  });
});
