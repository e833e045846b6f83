import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { testFolder } from '../support/folder.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

const emoji = '\u{1f600}'.repeat(400);
const kept = /^(?:Error: )?(?:\u{1f600}){140,150}…$/u;

describe('a reason that is cut', () => {
  it('beside an emoji is persisted with the end of its update: the agent takes its turn once (durability §4.6)', async () => {
    const clock = virtualClock();
    const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock });
    let turns = 0;
    const provider = {
      id: 'p',
      models: ['m'],
      toolGate: 'enforce' as const,
      async *run() {
        turns++;
        yield { type: 'message_start', message: { role: 'assistant', content: [] } } as const;
        throw new Error(emoji);
      },
    };
    const agents = [{ id: 'main', provider }];
    const failureText = { other: false } as const;
    await using lab = await hostLab({ journal, store: journal.store, clock, agents, failureText });
    await lab.say('hi');
    await expect
      .poll(async () => (await journal.updates())[0])
      .toMatchObject({ state: 'dead', reason: expect.stringMatching(kept) });
    expect(turns).toBe(1);
  });

  it('beside an emoji is persisted with the end of its send (durability §4.6)', async () => {
    const clock = virtualClock();
    const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock });
    const channel = scriptedChannel({
      send: async (permit) => {
        permit.take();
        return { status: 'rejected', reason: emoji };
      },
    });
    await using lab = await hostLab({ journal, store: journal.store, clock, channel });
    await lab.say('hi');
    await expect
      .poll(async () => (await journal.sends())[0])
      .toMatchObject({ state: 'failed', reason: expect.stringMatching(kept) });
  });
});
