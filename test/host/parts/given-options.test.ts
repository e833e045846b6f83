import { expect, it } from 'vitest';
import { type AgentDefinition, createHost, type FlatHostOptions } from '../../../src/host/index.js';
import { givenOptions } from '../../../src/host/parts/given-options.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { createKernel } from '../../../src/kernel/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const journal = memoryJournal();
const agents: readonly AgentDefinition[] = [];

it.each<[FlatHostOptions, object]>([
  [{ defaultAgentId: 'b' }, { defaultAgent: 'b' }],
  [{ kernelOptions: { trace: true } }, { kernel: { trace: true } }],
  [{ sendTimeoutMs: 1 }, { budgets: { sendTimeoutMs: 1 } }],
  [{ reloadTimeoutMs: 2 }, { budgets: { reloadTimeoutMs: 2 } }],
  [{ maxRunning: 3 }, { lanes: { maxRunning: 3 } }],
  [{ laneCapacity: 4 }, { lanes: { capacity: 4 } }],
  [{ capacity: 5 }, { lanes: { total: 5 } }],
  [{ whenLaneFull: 'drop' }, { lanes: { whenFull: 'drop' } }],
  [{ closesJournal: false }, { journal: { opened: journal, closes: false } }],
  [{ journalDispatches: false }, { journal: { opened: journal, dispatches: false } }],
  [{ maxAttempts: 6 }, { journal: { opened: journal, maxAttempts: 6 } }],
  [{ lastAttemptAfterMs: 7 }, { journal: { opened: journal, lastAttemptAfterMs: 7 } }],
  [{ maxUpdateLength: 8 }, { journal: { opened: journal, maxUpdateLength: 8 } }],
])('the option of an earlier version %j goes where its value stands now', (old, now) => {
  expect(givenOptions({ agents, journal, ...old }, {})).toMatchObject(now);
});

it('a value in a place of today stands before one of an earlier version', () => {
  const both = { journal, maxRunning: 3, lanes: { maxRunning: 4 } };
  expect(givenOptions({ agents, ...both }, {}).lanes).toEqual({ maxRunning: 4 });
});

it('refuses startOnly, which has no place any more', () => {
  const old: object = { agents, journal, startOnly: ['console'] };
  expect(() => givenOptions(old as FlatHostOptions & { agents: [] }, {})).toThrow(/startOnly/); // JavaScript may say it
});

it('starts all channels, or those alone that are in a list with a name', async () => {
  const [one, two] = [scriptedChannel({ id: 'one' }), scriptedChannel({ id: 'two' })];
  {
    await using _all = await hostLab({ channels: [one, two] });
    expect([one.running.size, two.running.size]).toEqual([1, 1]);
  }
  const providing = defineExtension({ id: 'e', setup: (api) => void api.provide('channel', two) });
  for (const [channels, running] of [
    [[one, 'one'], 0],
    [[one, 'two'], 1],
  ] as const) {
    await using _some = await hostLab({ channels, extensions: [{ extension: providing }] });
    expect([one.running.size, two.running.size]).toEqual([1, running]);
  }
});

it('makes its kernel of the settings of the config, and leaves a given one as it is', async () => {
  const provider = { id: 'echo', models: ['echo'], toolGate: 'enforce', ownTools: [] } as const;
  const config = {
    agents: [{ id: 'main', provider: { ...provider, run: async function* () {} } }],
    leastPrivilege: true,
    grants: { known: ['veto:egress.*'] },
  };
  const { kernel } = createHost(config, { kernel: { trace: true } });
  const mayVeto = (id: string) => kernel.may(id, 'veto:egress.preparing');
  expect([mayVeto('known'), mayVeto('other')]).toEqual([true, false]);
  const own = createKernel();
  expect(createHost(config, { kernel: own }).kernel).toBe(own);
});
