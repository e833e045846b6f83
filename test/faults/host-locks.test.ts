import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openJournal, openSqlite } from '../../src/journal/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { testFolder } from '../support/folder.js';
import { hostLab } from '../support/host-lab.js';
import { said } from '../support/turn-lab.js';

const turns = 40;

const pass = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
};

it.each([0, 3_000, 5_500, 6_500, 8_000, 20_000])(
  `fault 35: another process holds the write lock of the file for %i ms while ${turns} turns run: each message is answered once (durability §1.8, durability §6.13)`,
  async (lockedMs) => {
    const clock = virtualClock();
    const path = join(testFolder(), 'sluice.db');
    const journal = await openJournal(path, { clock });
    let running = 0;
    const slow: AgentProvider = {
      ...{ id: 'slow', models: ['m'], toolGate: 'enforce' },
      async *run({ prompt }) {
        yield { type: 'agent_start' };
        running++;
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_000));
        yield* said(`You said ${prompt}.`);
        yield { type: 'agent_end', messages: [] };
      },
    };
    const lab = await hostLab({
      ...{ clock, journal, store: journal.store },
      agents: [{ id: 'main', provider: slow }],
    });
    const ids = Array.from({ length: turns }, (_, at) => String(at));
    for (const id of ids) void lab.channel.receive({ text: id, conversation: id, from: id }, id);
    for (let at = 0; at < 20 && running < turns; at++) {
      await pass();
      await clock.advance(10);
    }
    expect(running).toBe(turns);
    using other = openSqlite(path);
    other.exec('BEGIN IMMEDIATE');
    for (let ms = 0; ms < lockedMs; ms += 50) {
      await clock.advance(50);
      await pass();
    }
    other.exec('ROLLBACK');
    for (let ms = 0; ms < 15_000; ms += 100) {
      await clock.advance(100);
      await pass();
    }
    expect(lab.texts().toSorted()).toEqual(ids.map((id) => `You said ${id}.`).toSorted());
    expect(lab.ends.map(({ status }) => status)).toEqual(ids.map(() => 'answered'));
    expect(lab.host.stats().deadLetters).toBe(0);
    await lab[Symbol.asyncDispose]();
    await journal.close();
  },
);
