import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { deferred, select } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { type HostLabOptions, hostLab } from '../../support/host-lab.js';

/** A host with extensions to replace, whose agent waits with the answers to some words. */
function waiting(until: (prompt: string) => Promise<void> | undefined, more: HostLabOptions) {
  const provider: AgentProvider = {
    ...echoProvider(),
    async *run(request) {
      await until(request.prompt);
      yield* echoProvider().run(request);
    },
  };
  const extension = defineExtension({ id: 'replaced', setup: () => undefined });
  const agents = [{ id: 'main', provider }];
  return hostLab({ journal: memoryJournal(), extensions: [{ extension }], agents, ...more });
}

it('a new conversation waits after a reload for few readings of a journal with thousands of messages of another one (durability §8.8)', async () => {
  const inner = memoryJournal();
  let readings = 0;
  const updates: typeof inner.updates = (filter) => {
    if (filter?.lane === undefined && filter?.eventId === undefined) readings++;
    return inner.updates(filter);
  };
  const hang = new Promise<void>(() => undefined);
  const lab = await waiting((prompt) => (prompt.startsWith('hang') ? hang : undefined), {
    journal: { ...inner, updates },
    budgets: { reloadTimeoutMs: 100 },
  });
  const many = 6_000;
  for (let at = 0; at < many; at++)
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

it('hundreds of messages that wait for a session which is free in the middle of a reload wait in the journal alone (durability §8.8)', async () => {
  const held: Record<string, ReturnType<typeof deferred<void>>> = {
    first: deferred(),
    beside: deferred(),
  };
  const lab = await waiting((prompt) => held[prompt]?.promise, {
    lanes: { maxRunning: 4 },
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
