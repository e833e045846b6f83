import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { type Journal, memoryJournal, memoryStore } from '../../../src/host/index.js';
import { hostLab } from '../../support/host-lab.js';
import { describeJournal } from './journal-contract.js';
import { describeStore } from './store-contract.js';

describeJournal('a journal in memory', async (options) => memoryJournal(options));
describeStore('a store in memory', async () => ({
  store: memoryStore(),
  close: async () => undefined,
}));

/** A journal that counts how many rows are compared with a filter: each asks its `states`. */
function counting(journal: Journal): { readonly journal: Journal; readonly looks: () => number } {
  let looks = 0;
  const counted = <State extends string>(states: readonly State[]): readonly State[] =>
    Object.assign([...states], {
      includes: (state: State) => {
        looks++;
        return states.some((one) => one === state);
      },
    });
  const allSends = ['prepared', 'sending', 'sent', 'cancelled', 'failed'] as const;
  const allUpdates = ['accepted', 'handling', 'ended', 'dead'] as const;
  return {
    looks: () => looks,
    journal: {
      ...journal,
      updates: ({ states = allUpdates, ...filter } = {}) =>
        journal.updates({ ...filter, states: counted(states) }),
      sends: ({ states = allSends, ...filter } = {}) =>
        journal.sends({ ...filter, states: counted(states) }),
    },
  };
}

describe('a journal in memory that is long', () => {
  it('is looked through no further for the last message than for the first (durability §8.8)', async () => {
    const { journal, looks } = counting(memoryJournal());
    const perMessage: number[] = [];
    let before = 0;
    await using lab = await hostLab({
      journal,
      agents: [{ id: 'main', provider: echoProvider() }],
    });
    const round = async (at: number): Promise<void> => {
      before = looks();
      const ids = Array.from({ length: 20 }, (_, one) => `${at}-${one}`);
      await Promise.all(
        ids.map((id) => lab.channel.receive({ text: id, conversation: 'one' }, id)),
      );
      while (lab.channel.sent.length < (at + 1) * ids.length)
        await new Promise((resolve) => setImmediate(resolve));
      await lab.clock.advance(0);
      perMessage.push((looks() - before) / ids.length);
    };
    for (let at = 0; at < 20; at++) await round(at);
    expect(perMessage[0]).toBeGreaterThan(0); // most have waited in the journal
    expect(Math.max(...perMessage)).toBeLessThanOrEqual(12);
    expect(perMessage.at(-1)).toBeLessThanOrEqual((perMessage[1] ?? 0) + 1);
  });
});
