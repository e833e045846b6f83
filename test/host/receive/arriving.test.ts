import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';

it('a message waits for one of its conversation that came before it and is being kept (durability §6.1)', async () => {
  const memory = memoryJournal();
  let isSlow = false;
  let keep = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    keep = resolve;
  });
  const journal: Journal = {
    ...mortalJournal(memory),
    accept: async (update, isBegun) => {
      const accepted = await memory.accept(update, isBegun);
      if (isSlow) await slow;
      return accepted;
    },
  };
  const echo = echoProvider();
  let end = (): void => undefined;
  const turn = new Promise<void>((resolve) => {
    end = resolve;
  });
  const provider = {
    ...echo,
    async *run(request: Parameters<typeof echo.run>[0]) {
      if (request.prompt === 'x') await turn;
      yield* echo.run(request);
    },
  };
  await using lab = await hostLab({
    journal,
    lanes: { maxRunning: 1 },
    agents: [{ id: 'main', provider }],
  });
  const receive = (text: string, conversation: string) =>
    void lab.channel.receive({ text, conversation }, text);
  receive('x', 'zero'); // has the only place
  await lab.clock.advance(10);
  isSlow = true;
  receive('a', 'one'); // no place is free
  await lab.clock.advance(10);
  end();
  await lab.clock.advance(10); // the place is free
  receive('b', 'one');
  await lab.clock.advance(10);
  keep();
  await lab.clock.advance(1_000);
  expect(lab.texts()).toEqual(['x', 'a', 'b']);
});

it('a message that was persisted although the journal could not say so is handled, and known when it comes again (durability §11.7)', async () => {
  const memory = memoryJournal();
  let isCut = true;
  const journal: Journal = {
    ...mortalJournal(memory),
    accept: async (update, isBegun) => {
      const accepted = await memory.accept(update, isBegun);
      if (!isCut) return accepted;
      isCut = false;
      throw journalError('database-io', { path: 'a server', problem: 'no answer' });
    },
  };
  await using lab = await hostLab({ journal });
  await lab.channel.receive({ text: 'hello' }, '7');
  expect(lab.channel.acknowledged).toEqual([]);
  await lab.channel.receive({ text: 'hello' }, '7');
  expect(lab.channel.acknowledged).toHaveLength(1);
  await lab.clock.advance(1_000);
  expect(lab.texts()).toEqual(['hello']);
});
