import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/journal/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { botApiServer } from '../../support/bot-api/bot-api.js';
import { messageUpdate } from '../../support/bot-api/updates.js';
import { sharedJournal } from '../../support/shared-journal.js';
import { telegramLab } from '../../support/telegram-lab.js';

/** Two hosts that share a journal, with one bot that Telegram lets one of them poll. Host b has its account. */
async function twoHosts() {
  const clock = virtualClock();
  const server = await botApiServer(() => clock.now());
  const shared = sharedJournal(clock);
  const store = memoryStore();
  const part = shared.partitionOf(JSON.stringify(['telegram', 'default']));
  shared.give('b', shared.all);
  const made = (process: string) =>
    telegramLab({
      ...{ clock, store, shared: { server, process } },
      journal: { opened: shared.of(process), closes: false },
    });
  const a = await made('a');
  const b = await made('b');
  let last = 100;
  const ids: string[] = [];
  return {
    ...{ a, b, server, shared, part },
    /** People write so many messages, and nobody waits for the answers. */
    write: (count: number) => {
      for (let at = 0; at < count; at++) {
        ids.push(String(last));
        server.give(messageUpdate({ updateId: last, text: `hello ${last++}` }));
      }
    },
    answered: () =>
      b.until(() => {
        const ended = new Set([...a.ends, ...b.ends].map(({ updateId }) => updateId));
        const isSaid = (id: string) => server.history.some((one) => one.endsWith(`hello ${id}`));
        return ids.every((id) => ended.has(id) && isSaid(id));
      }, 'all are answered'),
    /** Each message was answered once, and has one row. */
    check: async () => {
      expect(server.history.filter((one) => one.startsWith('sent'))).toHaveLength(ids.length);
      expect(server.shown.map(({ text }) => text)).toEqual(ids.map((id) => `hello ${id}`));
      const rows = await shared.of('a').updates({ limit: 1_000 });
      expect(rows.map(({ updateId }) => updateId).sort()).toEqual(ids);
      expect(rows.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
    },
    conflicts: () =>
      [a, b].map(({ log }) => log.entries.filter(({ fields }) => fields['code'] === 409).length),
    [Symbol.asyncDispose]: async () => {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('a bot that two hosts of a journal could poll', () => {
  it('is polled by one of them, and by the other when that one has stopped (durability §12.9)', async () => {
    await using hosts = await twoHosts();
    const { a, shared, part } = hosts;
    hosts.write(3);
    await hosts.answered();
    hosts.write(3);
    let isDrained = false;
    void shared.drain(part).then(() => {
      isDrained = true;
    });
    hosts.write(3);
    await a.until(() => isDrained, 'the account is stopped');
    hosts.write(3);
    shared.give('a', shared.all);
    await hosts.answered();
    await hosts.check();
    expect(hosts.conflicts()).toEqual([0, 0]);
  });

  it('is polled by both for a while if one does not know that it has lost it; nothing is lost, and nothing is answered twice (durability §12.9)', async () => {
    await using hosts = await twoHosts();
    const { a, shared } = hosts;
    hosts.write(3);
    await hosts.answered();
    shared.give('a', shared.all, { isAsleep: true });
    for (let at = 0; at < 5; at++) {
      hosts.write(2);
      const untilMs = a.clock.now() + 1_500;
      await a.until(() => a.clock.now() > untilMs, 'time has passed');
    }
    expect(Math.max(...hosts.conflicts())).toBeGreaterThan(0);
    shared.wake(); // it hears of it at last
    await hosts.answered();
    hosts.write(3);
    await hosts.answered();
    await hosts.check();
  });
});
