import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';

it('a new conversation waits after a reload for few readings of a journal with thousands of messages of another one (durability §8.8)', async () => {
  const inner = memoryJournal();
  let readings = 0;
  const updates: typeof inner.updates = (filter) => {
    if (filter?.lane === undefined && filter?.eventId === undefined) readings++;
    return inner.updates(filter);
  };
  const echo = echoProvider();
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      if (request.prompt.startsWith('hang')) await new Promise<void>(() => undefined);
      yield* echo.run(request);
    },
  };
  const lab = await hostLab({
    journal: { ...inner, updates },
    extensions: [{ extension: defineExtension({ id: 'replaced', setup: () => undefined }) }],
    budgets: { reloadTimeoutMs: 100 },
    agents: [{ id: 'main', provider }],
  });
  const waiting = 6_000;
  for (let at = 0; at < waiting; at++)
    await lab.channel.receive({ text: `hang ${at}`, conversation: 'busy' }, `${at}`);
  readings = 0;
  const reload = lab.host.reload();
  await lab.clock.advance(200);
  await reload;
  const end = await lab.say({ text: 'hello', conversation: 'new' });
  expect(end.status).toBe('answered');
  expect(readings).toBeLessThanOrEqual(14); // 50 at first, and each time twice as many, up to 1,000
  expect(readings).toBeGreaterThan(3);
  void lab.host.stop({ timeoutMs: 0 });
  await lab.clock.advance(10_000);
});
