import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { sharedTurns } from '../../../src/host/session/session-turn.js';
import { journalError } from '../../../src/journal/errors.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { select } from '../../../src/kernel/internal.js';
import { pause } from '../../../src/sdk/chat/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { portLab } from '../../support/port-lab.js';
import { twoHosts } from '../../support/two-hosts.js';

/** What happens beside the messages: extensions are replaced, or all partitions of a conversation go to another host. */
type Beside = 'none' | 'reload' | 'move' | 'drain' | 'stall' | 'away';

interface Step {
  readonly session: number;
  readonly conversation: number;
  /** The one that hears the message, or to which something happens. */
  readonly host: 'a' | 'b';
  readonly afterMs: number;
  readonly beside: Beside;
}

const replaced = defineExtension({ id: 'replaced', setup: () => undefined });

const rowsOf = { prefix: '', limit: 100 };

/** Two hosts that have every other partition, and few places. A text names the step that says it. */
async function crowded(
  steps: readonly Step[],
  { turnMs = 100, total = 100, maxRunning = 2, ofAgent = 2 } = {},
) {
  const running = new Map<string, number>();
  let mostRunning = 0;
  const begun: string[] = [];
  const hangs = new Set<string>();
  const hosts = await twoHosts({
    lanes: { maxRunning, total },
    extensions: [{ extension: replaced }],
    of: () => ({ agents: [{ id: 'main', provider: timed(), maxRunning: ofAgent }] }),
    contribute: (kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'by-step', class: 'resolver' },
        family: 'routing.resolving',
        handler: ({ payload: { message } }) =>
          select({ agentId: 'main', sessionKey: `s-${steps[Number(message.content)]?.session}` }),
      }),
  });
  const { clock, shared } = hosts;
  function timed(): AgentProvider {
    const echo = echoProvider();
    return {
      ...echo,
      async *run(request) {
        const { sessionKey, prompt, signal } = request;
        begun.push(prompt);
        const now = (running.get(sessionKey) ?? 0) + 1;
        mostRunning = Math.max(mostRunning, now);
        running.set(sessionKey, now);
        await pause(clock, turnMs, signal);
        while (hangs.has(prompt) && !signal.aborted) await pause(clock, turnMs, signal);
        running.set(sessionKey, (running.get(sessionKey) ?? 0) - 1);
        yield* echo.run(request);
      },
    };
  }
  let looks = 0;
  shared.onRead = (_, namespace) => {
    if (namespace === '/session-turns') looks++;
  };
  for (const host of ['a', 'b'])
    shared.give(
      host,
      shared.all.filter((partition) => (partition % 2 === 0) === (host === 'a')),
    );
  await clock.advance(10);
  const partitionOf = (conversation: number) =>
    shared.partitionOf(JSON.stringify(['scripted', 'default', `c-${conversation}`, '']));
  return {
    ...{ ...hosts, begun, hangs, partitionOf, stalled: new Set<string>() },
    mostRunning: () => mostRunning,
    looks: () => looks,
    turns: () => shared.of('a').keyValues.list('/session-turns', rowsOf),
    say: (at: number) => {
      const { host = 'a', conversation } = steps[at] ?? {};
      return hosts[host].channel.receive(
        { text: `${at}`, conversation: `c-${conversation}`, from: `p-${at}` },
        `${at}`,
      );
    },
  };
}

type Crowded = Awaited<ReturnType<typeof crowded>>;

/** The conversations of a host, from the first that it has. */
const conversationsOf = ({ partitionOf }: Pick<Crowded, 'partitionOf'>, host: 'a' | 'b') =>
  [...Array(200).keys()].filter((one) => (partitionOf(one) % 2 === 0) === (host === 'a'));

/** Steps of one session, each in a conversation of its own, of the hosts as given. */
async function inOneSession(of: readonly ('a' | 'b')[], how?: Parameters<typeof crowded>[1]) {
  const steps: Step[] = [];
  const hosts = await crowded(steps, how);
  const left = { a: conversationsOf(hosts, 'a'), b: conversationsOf(hosts, 'b') };
  for (const host of of)
    steps.push({
      ...{ session: 0, conversation: left[host].shift() ?? 0, host, afterMs: 0, beside: 'none' },
    });
  return { hosts, steps };
}

const answered = (many: number) => Array.from({ length: many }, (_, at) => `${at} answered`);
const inNumbers = (states: readonly string[]) =>
  states.toSorted((one, two) => Number.parseInt(one, 10) - Number.parseInt(two, 10));

async function doBeside({ a, b, shared, stalled, partitionOf }: Crowded, step: Step) {
  const { beside, host, conversation } = step;
  const partition = partitionOf(conversation);
  if (beside === 'reload') return (host === 'a' ? a : b).host.reload().then(() => undefined);
  if (beside === 'move') shared.give(host, [partition]);
  if (beside === 'drain') return shared.drain(partition).then(() => shared.give(host, [partition]));
  if (beside === 'stall') {
    shared.stall(host);
    stalled.add(host);
  }
  if (beside === 'away') shared.isAway = true;
}

/** What was stalled, or away, goes on. */
function goOn({ shared, stalled }: Crowded) {
  for (const host of stalled) shared.goOn(host);
  stalled.clear();
  shared.isAway = false;
}

describe('messages that wait for a session of several hosts', () => {
  it('come each to one answer, one turn of a session at a time, over reloads, moves, drains, stalls and faults of the journal (durability §8.8, durability §12.8)', async () => {
    const step = fc.record<Step>({
      session: fc.nat(2),
      conversation: fc.nat(30),
      host: fc.constantFrom('a', 'b'),
      afterMs: fc.nat(40),
      beside: fc
        .tuple(fc.nat(3), fc.constantFrom<Beside>('reload', 'move', 'drain', 'stall', 'away'))
        .map(([die, beside]) => (die === 0 ? beside : 'none')),
    });
    const plan = fc.array(step, { minLength: 8, maxLength: 40 });
    const said = (afterMs: number, beside: Beside = 'none'): Step => {
      return { session: afterMs, conversation: afterMs, host: 'a', afterMs, beside };
    };
    await fc.assert(
      fc.asyncProperty(plan, fc.constantFrom(6, 100), async (steps, total) => {
        await using hosts = await crowded(steps, { total });
        const { clock, shared } = hosts;
        const besides: Promise<unknown>[] = [];
        for (const [at, one] of steps.entries()) {
          await clock.advance(one.afterMs);
          goOn(hosts);
          void hosts.say(at).catch(() => undefined);
          besides.push(doBeside(hosts, one));
        }
        await clock.advance(30);
        goOn(hosts);
        await clock.advance(steps.length * 1_000 + 60_000);
        await Promise.all(besides);
        const states = await hosts.states();
        expect(states.filter((one) => !one.endsWith(' answered'))).toEqual([]);
        expect(hosts.mostRunning()).toBe(1);
        expect(await hosts.turns()).toEqual([]);
        for (const { host } of [hosts.a, hosts.b])
          expect(host.stats()).toMatchObject({ running: 0, waiting: 0, conversations: 0 });
        const sent = (await shared.of('a').sends()).map(({ correlationId }) => correlationId);
        expect(new Set(sent).size).toBe(sent.length);
      }),
      { numRuns: 40, examples: [[[said(0), said(41), said(39), said(15, 'away')], 100]] },
    );
  });

  it('wait in the journal alone if many do, and one of each host asks for the session (durability §8.8, durability §12.8)', async () => {
    const { hosts, steps } = await inOneSession(['a', ...Array<'b'>(30).fill('b')]);
    await using all = hosts;
    all.hangs.add('0');
    for (const at of steps.keys()) await all.say(at);
    await all.clock.advance(1_000);
    const before = all.looks();
    await all.clock.advance(1_000);
    expect(all.looks() - before).toBeLessThanOrEqual(11);
    expect(all.b.host.stats()).toMatchObject({ running: 0 });
    expect(all.b.host.stats().parked).toBeGreaterThanOrEqual(28); // as many wait in memory as may run
    const [row] = await all.turns();
    expect(JSON.parse(row?.body ?? '')).toMatchObject({ waiting: [{ seq: 2 }] });
    all.hangs.clear();
    await all.clock.advance(20_000);
    expect(inNumbers(await all.states())).toEqual(answered(31));
    expect(all.begun).toEqual([...steps.keys()].map(String));
  });

  it('have their turns in the order of their numbers, whichever host they wait at: no host passes over one that waits at another (durability §12.8)', async () => {
    const said = fc.tuple(fc.constantFrom<'a' | 'b'>('a', 'b'), fc.integer({ min: 5, max: 60 }));
    const plan = fc.array(said, { minLength: 4, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(plan, async (all) => {
        const { hosts, steps } = await inOneSession(all.map(([host]) => host));
        await using _hosts = hosts;
        for (const [at, [, afterMs]] of all.entries()) {
          await hosts.say(at);
          await hosts.clock.advance(afterMs);
        }
        await hosts.clock.advance(steps.length * 1_000);
        expect(hosts.begun).toEqual([...steps.keys()].map(String));
        expect(await hosts.turns()).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['as many messages as it may have', 3],
    ['few', 100],
  ])(
    'let one go before them that has the session and comes from a host that was lost, also if %s wait there (durability §12.8)',
    async (_, total) => {
      const { hosts, steps } = await inOneSession(['a', 'b', 'b', 'b'], { total });
      await using all = hosts;
      all.hangs.add('0');
      for (const at of steps.keys()) await all.say(at);
      await all.clock.advance(500); // its turn runs at a, and the others wait at b
      all.hangs.clear();
      all.shared.give('b', [all.partitionOf(steps[0]?.conversation ?? 0)], { isAsleep: true });
      await all.clock.advance(20_000);
      expect(inNumbers(await all.states())).toEqual(answered(4));
      expect(all.begun.slice(1)).toEqual(['0', '1', '2', '3']);
      expect(all.b.texts()).toHaveLength(4);
    },
  );

  it.each(['lost', 'drained'] as const)(
    'leave the queue of their host if their partition is %s, and hold up nobody there (durability §12.5, durability §12.8)',
    async (how) => {
      const { hosts, steps } = await inOneSession(['a', 'b', 'b', 'b', 'b', 'b', 'a']);
      await using all = hosts;
      all.hangs.add('0');
      for (const at of steps.keys()) await all.say(at);
      await all.clock.advance(500);
      const gone = [2, 5].map((at) => all.partitionOf(steps[at]?.conversation ?? 0));
      for (const partition of gone) if (how === 'drained') await all.shared.drain(partition);
      all.shared.give('a', gone);
      await all.clock.advance(500);
      expect(all.b.host.stats().conversations).toBe(1); // the other that waited in memory has gone
      all.hangs.clear();
      await all.clock.advance(20_000);
      expect(inNumbers(await all.states())).toEqual(answered(7));
      expect(all.begun.toSorted()).toEqual([...steps.keys()].map(String));
      const left = steps.filter(
        ({ host, conversation }) => host === 'b' && !gone.includes(all.partitionOf(conversation)),
      );
      expect(left.length).toBeGreaterThan(0);
      expect(all.b.texts()).toHaveLength(left.length);
    },
  );

  it.each([
    ['its session', 0],
    ['its agent', 1],
  ])(
    'leave a host at once that has lost their partition, also if %s is busy there for long (durability §12.5, durability §12.8)',
    async (_, sessions) => {
      const { hosts, steps } = await inOneSession(['b', 'b', 'b'], { ofAgent: 1 });
      await using all = hosts;
      for (const [at, step] of steps.entries()) steps[at] = { ...step, session: at * sessions };
      all.hangs.add('0');
      for (const at of steps.keys()) await all.say(at);
      await all.clock.advance(500);
      expect(all.begun).toEqual(['0']);
      const [kept, ...others] = steps.map(({ conversation }) => all.partitionOf(conversation));
      const lost = others.filter((one) => one !== kept);
      expect(lost).not.toEqual([]);
      all.shared.give('a', lost);
      await all.clock.advance(200);
      const left = steps.length - lost.length;
      expect(all.b.host.stats()).toMatchObject({ conversations: left });
      all.hangs.clear();
      await all.clock.advance(20_000);
      expect(inNumbers(await all.states())).toEqual(answered(3));
      expect(all.begun.toSorted()).toEqual(['0', '1', '2']);
      expect(all.b.host.stats()).toMatchObject({ running: 0, waiting: 0, conversations: 0 });
    },
  );

  it('leave their session with few writes if it is free in the middle of a reload (durability §8.6, durability §12.8)', async () => {
    const { hosts, steps } = await inOneSession(Array<'b'>(41).fill('b'), { maxRunning: 3 });
    await using all = hosts;
    steps[1] = { ...(steps[1] as Step), session: 1 }; // the reload waits for it
    all.hangs.add('0').add('1');
    for (const at of steps.keys()) await all.say(at);
    await all.clock.advance(1_000);
    let writes = 0;
    all.shared.onValue = (_, namespace) => void (namespace === '/session-turns' && writes++);
    void all.b.host.reload();
    all.hangs.delete('0');
    await all.clock.advance(5_000);
    expect(writes).toBeLessThanOrEqual(6); // those of the messages that waited in memory, and one more
    all.hangs.clear();
    await all.clock.advance(20_000);
    expect(inNumbers(await all.states())).toEqual(answered(41));
  });

  it('do not hold up a reload of their host, and have their turns after it (durability §8.6, durability §12.8)', async () => {
    const { hosts, steps } = await inOneSession(['a', ...Array<'b'>(8).fill('b')]);
    await using all = hosts;
    all.hangs.add('0');
    for (const at of steps.keys()) await all.say(at);
    await all.clock.advance(500);
    const reloaded = all.b.host.reload();
    await all.clock.advance(500);
    all.hangs.clear();
    await all.clock.advance(1_000);
    await reloaded;
    await all.clock.advance(20_000);
    expect(all.b.log.messages('warn')).toEqual([]);
    expect(inNumbers(await all.states())).toEqual(answered(9));
    expect(all.begun[0]).toBe('0');
  });

  it('keep it if they are begun again before the journal has heard that they gave it back (durability §12.8)', async () => {
    const inner = memoryJournal();
    let isAway = false;
    const write: typeof inner.keyValues.write = async (...given) => {
      if (isAway) throw journalError('database-io', { path: 'test', problem: 'it is away' });
      return inner.keyValues.write(...given);
    };
    const journal = { ...inner, keyValues: { ...inner.keyValues, write } };
    const { parts, clock, stop } = await portLab({ journal });
    const turns = sharedTurns(parts);
    const fence = parts.journal.ownership.fenceOf(0);
    if (fence === undefined) throw new Error('it has no partition');
    const turn = { turns, eventId: 'u', fence, signal: fence.signal };
    const rows = () => inner.keyValues.list('/session-turns', rowsOf);
    expect(await turns.take('s', turn, true)).toBe('u');
    isAway = true;
    expect(await turns.release('s', turn, undefined)).toBe(false);
    await clock.advance(10); // the next try comes later
    isAway = false;
    while ((await turns.take('s', turn, true)) !== 'u') await clock.advance(10);
    await clock.advance(1_000);
    expect(await rows()).toHaveLength(1);
    expect(await turns.release('s', turn, undefined)).toBe(false);
    expect(await rows()).toEqual([]);
    await stop();
  });
});
