import { expect, it } from 'vitest';
import { configSchema } from '../../../src/host/config/schema.js';
import {
  type AgentDefinition,
  createHost,
  type HostProgram,
  timelineRecorder,
} from '../../../src/host/index.js';
import { givenOptions, hostSettings } from '../../../src/host/parts/given-options.js';
import { memoryStore } from '../../../src/journal/index.js';
import { createKernel, silentLogger } from '../../../src/kernel/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const agents: readonly AgentDefinition[] = [];

const old = { maxRunning: 3, journalDispatches: false, startOnly: ['console'], laness: {} };

it.each(Object.entries(old))('refuses a name that no option has: %s', (name, value) => {
  expect(() => givenOptions({ agents, ...{ [name]: value } }, {})).toThrow(name);
});

it('takes its own settings of those of a config file, and each option of a program', () => {
  const config = Object.fromEntries(Object.keys(configSchema.shape).map((name) => [name, {}]));
  const taken = hostSettings({ ...config, folder: '.', secrets: [] });
  const ofOthers = ['$schema', 'agent', 'gateway', 'handlerWatch', 'health', 'inspect'];
  const left = [...ofOthers, 'legacy', 'logging', 'openclaw', 'strict'];
  expect(
    Object.keys(config)
      .filter((name) => !(name in taken))
      .sort(),
  ).toEqual(left);
  const program: Required<HostProgram> = {
    ...{ kernel: createKernel(), timeline: timelineRecorder(), store: memoryStore() },
    ...{ clock: virtualClock(), logger: silentLogger, newId: () => '1', providers: [] },
    ...{ commands: [], replies: {}, about: {}, onMessageEnd: () => undefined },
    ...{ onEvent: () => undefined, onAmbiguousSend: async () => 'fail' },
  };
  expect(givenOptions({ agents }, program)).toMatchObject({ newId: program.newId });
});

it('names the option that was meant', () => {
  expect(() => givenOptions({ agents, ...{ laness: {} } }, {})).toThrow('did you mean "lanes"?');
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
