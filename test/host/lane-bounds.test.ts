import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { Lanes, memoryJournal } from '../../src/host/index.js';
import type { AgentProvider } from '../../src/stream/index.js';
import { hostLab } from '../support/host-lab.js';

/** An agent that echoes, but hangs on one word until it is aborted. */
function hangsOn(word: string): AgentProvider {
  const echo = echoProvider();
  return {
    ...echo,
    async *run(request) {
      if (request.prompt === word)
        await new Promise<void>((resolve) =>
          request.signal.addEventListener('abort', () => resolve()),
        );
      yield* echo.run(request);
    },
  };
}

const held = () => {
  let release = (): void => undefined;
  const job = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { job: () => job, release };
};

describe('lanes', () => {
  it('take no room when they are idle (durability §8.1)', async () => {
    const lanes = new Lanes(10);
    await Promise.all(Array.from({ length: 1_000 }, (_, at) => lanes.run(`${at}`, async () => at)));
    expect([lanes.size, lanes.jobs]).toEqual([0, 0]);
  });

  it('are bounded one by one and together; who waits for room gets it in order (durability §8.2)', async () => {
    const lanes = new Lanes(2, 3);
    const jobs = [held(), held(), held()];
    const runs = jobs.map(({ job }, at) => lanes.run(at < 2 ? 'a' : 'b', job));
    expect([lanes.isFull('a'), lanes.isFull('b')]).toEqual([true, true]);
    const got: string[] = [];
    const waits = ['b', 'c', 'a'].map((key) => lanes.room(key).then(() => got.push(key)));
    await Promise.resolve();
    expect(got).toEqual([]);
    jobs[2]?.release(); // b: all of them have room again, a has not
    await runs[2];
    await Promise.resolve();
    expect(got).toEqual(['b']);
    jobs[0]?.release();
    await Promise.all(runs.slice(0, 1));
    jobs[1]?.release();
    await Promise.all([...runs, ...waits]);
    expect(got.toSorted()).toEqual(['a', 'b', 'c']);
  });
});

describe('a host under load', () => {
  it('has a channel wait when all conversations together are full (durability §8.2)', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('wait') }],
      capacity: 3,
    });
    const taken: number[] = [];
    for (let at = 0; at < 5; at++)
      void lab.channel
        .receive({ text: 'wait', conversation: `c-${at}` }, `${at}`)
        .then(() => taken.push(at));
    await lab.clock.advance(0);
    expect(taken).toEqual([0, 1]);
    lab.host.abortTurns();
    await lab.clock.advance(0);
    expect(taken.toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect(lab.host.stats()).toMatchObject({
      received: 5,
      dropped: 0,
      waiting: 0,
      conversations: 0,
    });
  });

  it.each([
    ['without a journal', undefined],
    ['with a journal', memoryJournal()],
  ])('drops only where it is told to, and counts it: %s (durability §8.3)', async (_, journal) => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('wait') }],
      laneCapacity: 2,
      whenLaneFull: 'drop',
      ...(journal !== undefined && { journal }),
    });
    for (let at = 0; at < 4; at++) await lab.channel.receive({ text: 'wait' }, `${at}`);
    await lab.channel.receive({ text: 'hi', conversation: 'other' }, 'other');
    await lab.clock.advance(0);
    expect(lab.host.stats()).toMatchObject({ received: 5, dropped: 2, waiting: 2 });
    expect(lab.ends.filter(({ status }) => status === 'failed')).toMatchObject([
      { updateId: '2', reason: expect.stringMatching(/dropped/) },
      { updateId: '3' },
    ]);
    expect(lab.channel.acknowledged.map(({ updateId }) => updateId)).toEqual(
      expect.arrayContaining(['2', '3', 'other']),
    );
    const dead = await journal?.updates({ states: ['dead'] });
    if (dead !== undefined) expect(dead.map(({ updateId }) => updateId)).toEqual(['2', '3']);
  });

  it.each([
    ['without a journal', undefined],
    ['with a journal', memoryJournal()],
  ])(
    'fault 41: of 1,000 conversations one hangs, and 999 are answered in no time: %s',
    async (_, journal) => {
      await using lab = await hostLab({
        agents: [{ id: 'main', provider: hangsOn('poison') }],
        ...(journal !== undefined && { journal }),
      });
      for (let at = 0; at < 1_000; at++)
        await lab.channel.receive(
          { text: at === 500 ? 'poison' : 'hi', conversation: `c-${at}` },
          `${at}`,
        );
      await lab.clock.advance(0); // no time passes: whoever waited for the one would still wait
      expect(lab.texts()).toHaveLength(999);
      expect(lab.host.stats()).toMatchObject({ conversations: 1, waiting: 1 });
    },
    60_000,
  );

  it('a poisoned conversation that goes on sending slows down its own sender alone (durability §8.1)', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('poison') }],
      laneCapacity: 3,
    });
    const taken: string[] = [];
    let updates = 0;
    const receive = (text: string, conversation: string) =>
      lab.channel
        .receive({ text, conversation }, `u-${++updates}`)
        .then(() => taken.push(conversation));
    for (let at = 0; at < 5; at++) void receive('poison', 'bad');
    await lab.clock.advance(0);
    expect(taken).toEqual(['bad', 'bad']);
    for (let at = 0; at < 50; at++) await receive('hi', `good-${at}`);
    await lab.clock.advance(0);
    expect(lab.texts()).toHaveLength(50);
  });
});
