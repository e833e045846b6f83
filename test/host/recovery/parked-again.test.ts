import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { openSqlite } from '../../../src/journal/database/open-sqlite.js';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { fence } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';

/** A journal that takes its time to take in, as long as it is slow. */
function slowJournal(): { readonly journal: Journal; slow(): void; go(): void } {
  const journal = memoryJournal();
  let written = Promise.resolve();
  let go = (): void => undefined;
  return {
    journal: {
      ...journal,
      accept: async (update) => {
        await written;
        return journal.accept(update);
      },
    },
    slow: () => {
      written = new Promise((resolve) => {
        go = resolve;
      });
    },
    go: () => go(),
  };
}

describe('M6: an update that waits in the journal and comes again', () => {
  for (const again of [['b'], ['b', 'c']])
    it(`is handled once, and in its order, also if its conversation is free meanwhile: ${again.join(' and ')} (durability §8.8)`, async () => {
      const { journal, slow, go } = slowJournal();
      const echo = echoProvider();
      const slowly: AgentProvider = {
        ...echo,
        async *run(request) {
          await new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 100));
          yield* echo.run(request);
        },
      };
      await using lab = await hostLab({ journal, agents: [{ id: 'main', provider: slowly }] });
      const receive = (text: string) => lab.channel.receive({ text, conversation: 'one' }, text);
      for (const text of ['a', 'b', 'c']) await receive(text);
      await lab.clock.advance(50);
      slow();
      const told = again.map(receive);
      await lab.clock.advance(100); // the turn of "a" has ended
      go();
      await Promise.all(told);
      await lab.clock.advance(1_000);
      expect(lab.texts()).toEqual(['a', 'b', 'c']);
      expect(lab.host.stats()).toMatchObject({ duplicates: again.length, waiting: 0 });
    });
});

it('H1: one damaged row of the journal keeps nobody else waiting (durability §1.6)', async () => {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  const echo = echoProvider();
  const slowly: AgentProvider = {
    ...echo,
    async *run(request) {
      await new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 100));
      yield* echo.run(request);
    },
  };
  const agents = [{ id: 'main', provider: slowly }];
  await using lab = await hostLab({
    journal,
    store: journal.store,
    lanes: { maxRunning: 1 },
    agents,
  });
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f'])
    await lab.channel.receive({ text, conversation: text }, text);
  {
    using database = openSqlite(path);
    database.exec("UPDATE updates SET body = '{}' WHERE update_id = 'd'");
  }
  await vi.waitFor(
    async () => {
      await lab.clock.advance(100);
      expect(lab.texts()).toEqual(['a', 'b', 'c', 'e', 'f']);
    },
    { timeout: 280_000, interval: 5 },
  );
  const told = lab.log.entries.filter(({ message }) => message.includes('is damaged'));
  expect(told).toHaveLength(1);
});

it('H1: an update with a damaged send is told once, and left to a repair (durability §1.6)', async () => {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  await using lab = await hostLab({ journal, store: journal.store });
  const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
  const body = JSON.stringify({ text: 'a', conversation: 'one' });
  await journal.accept({ eventId: 'u-1', ...about, updateId: '1', body });
  await journal.begin('u-1');
  const said = { kind: 'reply', fingerprint: 'f', body: '{"content":"a"}' } as const;
  await journal.prepare(fence, { sendId: 'u-1.1', correlationId: 'u-1', ...said });
  {
    using database = openSqlite(path); // the host sees that another has written, and looks for open updates
    database.exec("UPDATE sends SET body = '{}'");
  }
  const told = () => lab.log.entries.filter(({ level }) => level === 'error');
  const look = async (): Promise<void> => {
    await lab.clock.advance(1_000);
    await new Promise(setImmediate);
  };
  while (told().length === 0) await look();
  for (let looks = 0; looks < 30; looks++) await look();
  expect(told()).toMatchObject([{ message: 'what the journal holds could not be claimed' }]);
  await lab.channel.receive({ text: 'b', conversation: 'two' }, '2');
  await vi.waitFor(() => expect(lab.texts()).toEqual(['b']), 60_000);
});

it('a message that was refused before its host was killed is refused in its order, and not after those behind it (durability §8.2)', async () => {
  const journal = await openJournal(join(testFolder(), 'sluice.db'));
  const mortal = mortalJournal(journal, (write) => {
    if (write === 'sending') mortal.kill();
    return undefined;
  });
  const full = { lanes: { capacity: 1, whenFull: 'refuse' }, failureText: () => 'busy' } as const;
  const echo = echoProvider();
  const silent: AgentProvider = {
    ...echo,
    async *run(request) {
      await new Promise(() => undefined);
      yield* echo.run(request);
    },
  };
  const agents = [{ id: 'main', provider: silent }];
  const killed = await hostLab({ journal: mortal, store: journal.store, agents, ...full });
  for (const text of ['1', '2', '3'])
    void killed.channel.receive({ text, conversation: 'one' }, text); // the host may die before it returns
  await vi.waitFor(
    async () => expect(await journal.sends()).toMatchObject([{ state: 'prepared' }]),
    60_000,
  );
  await using lab = await hostLab({ journal, store: journal.store, ...full });
  await lab.clock.advance(5_000);
  await vi.waitFor(() => expect(lab.texts()).toHaveLength(3), 60_000);
  expect(lab.texts()).toEqual(['1', 'busy', '2']);
});
