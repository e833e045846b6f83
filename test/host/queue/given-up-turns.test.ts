import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { deferred, select } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';

it('hundreds of messages that wait for a session which is free in the middle of a reload wait in the journal alone (durability §8.8)', async () => {
  const echo = echoProvider();
  const held: Record<string, ReturnType<typeof deferred<void>>> = {
    first: deferred(),
    beside: deferred(),
  };
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      await held[request.prompt]?.promise;
      yield* echo.run(request);
    },
  };
  const lab = await hostLab({
    journal: memoryJournal(),
    lanes: { maxRunning: 4 },
    extensions: [{ extension: defineExtension({ id: 'replaced', setup: () => undefined }) }],
    agents: [{ id: 'main', provider }],
    contribute: (kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'all', class: 'resolver', family: 'routing.resolving' },
        handler: ({ payload: { message } }) =>
          select({ agentId: 'main', sessionKey: message.content === 'beside' ? 'beside' : 's' }),
      }),
  });
  const texts = ['first', 'beside', ...Array.from({ length: 300 }, (_, at) => `${at}`)];
  for (const text of texts)
    await lab.channel.receive({ text, conversation: text, from: text }, text);
  await lab.clock.advance(5_000);
  expect(lab.host.stats()).toMatchObject({ running: 2 });
  const before = lab.host.stats().waiting;
  const reload = lab.host.reload();
  await lab.clock.advance(100);
  held['first']?.resolve();
  await lab.clock.advance(100);
  expect(lab.host.stats().waiting).toBeLessThanOrEqual(before + 4);
  held['beside']?.resolve();
  await lab.clock.advance(100);
  await reload;
  await lab.clock.advance(60_000);
  expect(lab.host.stats()).toMatchObject({ waiting: 0, sends: { sent: texts.length } });
});
