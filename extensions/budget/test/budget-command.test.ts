import { systemClock } from 'sluice';
import { commandContext } from 'sluice/testing';
import { expect, it } from 'vitest';
import { newAccount } from '../src/account.js';
import { budgetCommand } from '../src/budget-command.js';
import type { Whose } from '../src/places.js';

it('/budget of a sender whom nobody has proven shows the cap of the account that it came in by (judgement §6.8)', async () => {
  const asked: Whose[] = [];
  const accounts = {
    today: () => '2026-01-01',
    of: (whose: Whose) => {
      asked.push(whose);
      return [];
    },
    read: async () => newAccount('ada'),
    change: async () => undefined,
    changeAll: async () => undefined,
    list: async () => [],
  };
  const context = commandContext({ accountId: 'work' });
  const { accountId: _, ...message } = context.message;
  const said = await budgetCommand(accounts, systemClock).run({ ...context, message });
  expect(said).toBe('Budget of 2026-01-01\nYou have no cap of your own.');
  const { channel, conversationId = message.from } = message;
  expect(asked.map(({ conversation }) => conversation)).toEqual([
    [channel, 'work', conversationId],
  ]);
});
