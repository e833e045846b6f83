import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { Lanes } from '../../../src/host/lanes/lanes.js';
import { memoryJournal, openJournal } from '../../../src/journal/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { testFolder } from '../../support/folder.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

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

describe('lanes', () => {
  it('take no room when they are idle (durability §8.1)', async () => {
    const lanes = new Lanes();
    for (let at = 0; at < 1_000; at++) void lanes.run(`${at}`, async () => at);
    await lanes.idle();
    expect([lanes.size, lanes.jobs]).toEqual([0, 0]);
  });
});

describe('a host under load', () => {
  it('has a channel that is told to wait when all conversations together are full (durability §8.2)', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('wait') }],
      lanes: { total: 3, whenFull: 'wait' },
    });
    const taken: number[] = [];
    for (let at = 0; at < 5; at++) {
      void lab.channel
        .receive({ text: 'wait', conversation: `c-${at}` }, `${at}`)
        .then(() => taken.push(at));
      await lab.clock.advance(0); // the one before has its place
    }
    expect(taken).toEqual([0, 1]);
    // three run at once: the others begin when these have ended
    await until(lab, () => lab.host.abortTurns() === 0 && lab.host.stats().waiting === 0);
    expect(taken.toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect(lab.host.stats()).toMatchObject({
      received: 5,
      dropped: 0,
      waiting: 0,
      conversations: 0,
    });
  });

  it('has a channel that can wait do so, which is one conversation (durability §8.2)', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('wait') }],
      channel: scriptedChannel({ canWait: true }),
      lanes: { capacity: 3 },
    });
    const taken: number[] = [];
    for (let at = 0; at < 5; at++)
      void lab.channel.receive({ text: 'wait' }, `${at}`).then(() => taken.push(at));
    await lab.clock.advance(0);
    expect(taken).toEqual([0, 1]);
    expect(lab.host.stats()).toMatchObject({ received: 5, dropped: 0, waiting: 5 });
  });

  it.each([
    ['without a journal', undefined],
    ['with a journal', memoryJournal()],
  ])('drops only where it is told to, and counts it: %s (durability §8.3)', async (_, journal) => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('wait') }],
      lanes: { capacity: 2, whenFull: 'drop' },
      ...(journal !== undefined && { journal }),
    });
    for (let at = 0; at < 4; at++) await lab.channel.receive({ text: 'wait' }, `${at}`);
    await lab.channel.receive({ text: 'hi', conversation: 'other' }, 'other');
    await lab.clock.advance(0);
    expect(lab.host.stats()).toMatchObject({ received: 5, dropped: 2, waiting: 2 });
    expect(lab.ends.filter(({ status }) => status === 'failed')).toMatchObject([
      { updateId: '2', reason: expect.stringMatching(/not taken in/) },
      { updateId: '3' },
    ]);
    expect(lab.texts()).toEqual(['hi']);
    expect(lab.channel.acknowledged.map(({ updateId }) => updateId)).toEqual(
      expect.arrayContaining(['2', '3', 'other']),
    );
    const dead = await journal?.updates({ states: ['dead'] });
    if (dead !== undefined) expect(dead.map(({ updateId }) => updateId)).toEqual(['2', '3']);
  });

  it('H3: without a journal the messages of a full conversation are refused: one of them is answered so, all are counted (durability §8.2)', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangsOn('poison') }],
      lanes: { capacity: 4 },
      failureText: ({ code }) => code,
    });
    const flood = async (from: number, to: number) => {
      for (let at = from; at < to; at++) await lab.channel.receive({ text: 'poison' }, `${at}`);
      await until(lab, () => lab.ends.length >= to - 4);
    };
    await flood(0, 20);
    await lab.channel.receive({ text: 'hi', conversation: 'other' }, 'other');
    await until(lab, () => lab.texts().includes('hi'));
    expect(lab.texts()).toEqual(['busy', 'hi']);
    expect(lab.host.stats()).toMatchObject({ dropped: 16, waiting: 4 });
    expect(lab.ends.filter(({ reason }) => reason?.includes('not taken in'))).toHaveLength(16);
    while (lab.host.stats().waiting > 0) {
      lab.host.abortTurns();
      await lab.clock.advance(0);
    }
    await flood(20, 40); // it has had room again: somebody is told anew
    expect(lab.texts().filter((text) => text === 'busy')).toHaveLength(2);
  });

  it.each([
    ['without a journal', () => undefined],
    ['with a journal in memory', () => memoryJournal()],
    ['with a journal on a file', () => openJournal(join(testFolder(), 'sluice.db'))],
  ])(
    'fault 41, H3: one of 1,000 conversations hangs and goes on writing, to a channel that brings one after the other; 999 are answered in no time: %s (durability §8.1)',
    async (_, open) => {
      const journal = await open();
      await using lab = await hostLab({
        agents: [{ id: 'main', provider: hangsOn('poison') }],
        ...(journal !== undefined && { journal }),
        failureText: () => undefined,
      });
      for (let at = 0; at < 1_000; at++) {
        if (at % 5 === 0)
          await lab.channel.receive({ text: 'poison', conversation: 'bad' }, `bad-${at}`);
        await lab.channel.receive({ text: 'hi', conversation: `c-${at}` }, `${at}`);
      }
      // no time passes: whoever waited for the one would still wait
      await until(lab, () => lab.texts().length === 1_000);
      await until(lab, () => lab.host.stats().conversations === 1); // the ends of the last ones are written
      expect(lab.host.stats()).toMatchObject({ conversations: 1, running: 1 });
    },
    300_000,
  );
});

/** Lets the event loop turn, and no time pass, until something is so. */
async function until(lab: HostLab, isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 5_000) throw new Error('it never came to this');
    await lab.clock.advance(0);
  }
}
