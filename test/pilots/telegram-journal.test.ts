import { expect, it } from 'vitest';
import { memoryJournal } from '../../src/host/index.js';
import type { AgentProvider } from '../../src/stream/index.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { mortalJournal } from '../support/mortal-journal.js';
import { telegramLab } from '../support/telegram-lab.js';

/** An agent that answers when it is let, and says how often it was asked. */
function held(): { readonly provider: AgentProvider; readonly asked: string[]; release(): void } {
  const asked: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const provider: AgentProvider = {
    id: 'held',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ prompt }) {
      asked.push(prompt);
      await released;
      const content = [{ type: 'text', text: `answer to ${prompt}` }] as const;
      yield { type: 'agent_start' };
      yield { type: 'message_start', message: { role: 'assistant', content: [] } };
      yield { type: 'message_end', message: { role: 'assistant', content } };
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, asked, release: () => release() };
}

it('with a journal an update is confirmed when it is kept, and answered once over a restart', async () => {
  const kept = memoryJournal();
  const mortal = mortalJournal(kept);
  const first = held();
  const lab = await telegramLab({
    journal: mortal,
    agents: [{ id: 'main', provider: first.provider }],
  });
  lab.server.give(messageUpdate({ updateId: 101, text: 'hello' }));
  await lab.until(() => first.asked.length === 1, 'the agent is asked');
  await lab.until(() => lab.server.offset === 102, 'it is confirmed');
  expect(lab.ends).toEqual([]); // long before it has come to its end
  expect(lab.server.waiting).toEqual([]);
  mortal.kill();
  first.release();
  await lab[Symbol.asyncDispose]();

  const second = held();
  second.release();
  await using after = await telegramLab({
    journal: kept,
    agents: [{ id: 'main', provider: second.provider }],
    prepare: (server) => server.give(messageUpdate({ updateId: 101, text: 'hello' })), // Telegram brings it again
  });
  await after.until(() => after.ends.length === 1, 'what was kept is answered');
  await after.until(() => after.server.offset === 102, 'what came again is confirmed');
  expect(second.asked).toEqual(['hello']);
  expect(after.server.shown.map(({ text, replyToId }) => [text, replyToId])).toEqual([
    ['answer to hello', 5_101],
  ]);
});
