import { expect, it } from 'vitest';
import { cancel, canonicalStages } from '../../src/kernel/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import { samplePayload } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

/** Families of runs that compact their transcript or start subagents, and of channels of plugins, results of tools of the host, and answers that a handler judges: the run of this test has none. */
const elsewhere = canonicalStages
  .filter(
    ({ family, emittedBy }) =>
      emittedBy === 'subagent' ||
      /^(?:compaction|account\.pairing)\.|^agent\.(?:tool|llm)\.returning$/.test(family),
  )
  .map(({ family }) => family);

it('emits every family but those of compaction, subagents and plugins', async () => {
  const channel = scriptedChannel({
    decode: (raw) =>
      (raw as { text: string }).text === 'press'
        ? { kind: 'interaction', interaction: { ...samplePayload('interaction.received') } }
        : undefined,
    send: async (permit, sent) => {
      const message = permit.take();
      if (message.content === 'fail') return { status: 'rejected', reason: 'no' };
      sent.push(message);
      return { status: 'sent', receipt: {} };
    },
  });
  const extension = defineExtension({
    id: 'clock',
    setup: (api) => api.schedule('tick', { cron: '* * * * *' }, () => undefined),
  });
  const lab = await hostLab({
    channel,
    extensions: [{ extension }],
    contribute: (kernel) => {
      kernel.contribute({
        family: 'egress.preparing',
        class: 'veto',
        extensionId: 'test',
        id: 'veto',
        handler: ({ payload }) => (payload.content === 'cancel' ? cancel('policy') : null),
      });
      kernel.contribute({
        family: 'agent.output.delta',
        class: 'observer',
        extensionId: 'test',
        id: 'deltas',
        handler: () => undefined,
      });
    },
  });
  for (const text of ['hello', 'cancel', 'fail', '/new', 'press']) await lab.say(text);
  await lab.host.stop();
  const expected = canonicalStages
    .map(({ family }) => family)
    .filter((family) => !elsewhere.includes(family));
  expect([...new Set<string>(lab.families())].toSorted()).toEqual(expected.toSorted());
});
