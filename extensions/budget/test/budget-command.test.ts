import { systemClock } from 'sluice';
import { commandContext } from 'sluice/testing';
import { expect, it } from 'vitest';
import { newAccount } from '../src/account.js';
import { budgetCommand, budgetTexts } from '../src/budget-command.js';
import type { Whose } from '../src/places.js';

/** Says the sentences as an operator has written them, and the others in English. */
function sayIn(own: Readonly<Record<string, string>>, locale: string) {
  const say = (key: string, ...[values = {}]: readonly Readonly<Record<string, unknown>>[]) =>
    ({ ...budgetTexts, ...own })[key as keyof typeof budgetTexts].replaceAll(
      /\{(\w+)\}/g,
      (_, name) => String(values[name]),
    );
  return Object.assign(say, { locale });
}

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
  const budget = budgetCommand(accounts, systemClock, () => sayIn({}, 'en'));
  expect(await budget.run({ ...context, message })).toBe(
    'Budget of 2026-01-01\nYou have no cap of your own.',
  );
  const { channel, conversationId = message.from } = message;
  expect(asked.map(({ conversation }) => conversation)).toEqual([
    [channel, 'work', conversationId],
  ]);
});

it('/budget says its sentences as an operator has written them, and numbers as people of the language do (judgement §6.8)', async () => {
  const used = { tokens: 1_200, microUsd: 20_000 };
  const accounts = {
    today: () => '2026-01-01',
    of: () => [{ key: 'k', name: 'ada', capName: 'perPrincipal' as const, cap: { tokens: 5_000 } }],
    read: async () => ({ ...newAccount('ada'), used, guessed: 1 }),
    change: async () => undefined,
    changeAll: async () => undefined,
    list: async () => [],
  };
  const german = { title: 'Budget am {day}', perPrincipal: 'Sie', used: '{amount} verbraucht' };
  const say = sayIn(german, 'de');
  const said = await budgetCommand(accounts, systemClock, () => say).run(commandContext({}));
  expect(String(said).replaceAll('\u00a0', ' ')).toBe(
    'Budget am 2026-01-01\nSie: 1.200 tokens verbraucht, 3.800 tokens left of 5.000 tokens; 0,02 $ verbraucht (1 run is estimated)',
  );
});
