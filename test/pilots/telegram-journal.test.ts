import { expect, it } from 'vitest';
import { memoryJournal } from '../../src/journal/index.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { held } from '../support/held-agent.js';
import { mortalJournal } from '../support/mortal-journal.js';
import { telegramLab } from '../support/telegram-lab.js';

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
