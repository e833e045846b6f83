import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal } from '../../src/journal/index.js';
import { slotOf } from '../../src/journal/internal.js';
import { schema, schemaVersion } from '../../src/journal/rows/journal-schema.js';
import { fence } from '../support/fences.js';
import { testFolder } from '../support/folder.js';
import { anUpdate, aSend } from './journal-contract.js';
import { session } from './store-contract.js';
import { makeVersion3 } from './version-3.js';

const digestOf = (statements: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...statements].sort()))
    .digest('hex');

/** Makes a file as version 3 left it, with a row in each table that has slots today. */
async function version3(): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  await journal.accept(anUpdate('a'), true);
  await journal.prepare(fence, aSend('s', { correlationId: 'a' }));
  await journal.store.saveSession(session('key', 'id'), { fence });
  await journal.close();
  expect(digestOf(makeVersion3(path))).toBe(
    'd32af0e0dd08966ab76657b016ae5c23afd0a8c4adeda1cd5968ba20c7cf2e8a', // the digest of the schema of version 3
  );
  return path;
}

const slotsIn = (path: string, table: string) => {
  using database = openSqlite(path, { readonly: true });
  return database.prepare(`SELECT slot FROM ${table} ORDER BY seq`).all();
};

describe('the schema of a journal (durability §1.7)', () => {
  it('is the schema that the files of its version were made with, letter by letter', () => {
    expect(schemaVersion).toBe(4);
    expect(digestOf(schema)).toBe(
      '4df209b3ec8b851daeadec716a9ba48156e4e246e369b02e52c3d0f19eb4a621',
    );
  });

  it('of version 3 gets slots when its host opens it: what was there has none, and what comes has (durability §11.11)', async () => {
    const path = await version3();
    await expect(readJournal(path)).rejects.toThrow('it is of version 3');
    const journal = await openJournal(path);
    expect(await journal.updates()).toMatchObject([{ eventId: 'a', state: 'handling' }]);
    const slot = journal.ownership.slotOf('a conversation');
    expect(slot).toBe(slotOf('a conversation'));
    await journal.accept({ ...anUpdate('b'), slot });
    const { fence: own } = await journal.begin('b');
    await journal.prepare(own, aSend('t', { correlationId: 'b' }));
    expect((await journal.updates()).map((row) => row.slot)).toEqual([undefined, slot]);
    expect((await journal.sends()).map((row) => row.slot)).toEqual([undefined, slot]);
    expect(await journal.store.loadSession('key')).toMatchObject({ sessionId: 'id' });
    for (const [key, id] of [
      ['key', 'id'],
      ['other', 'id 2'],
    ] as const)
      await journal.store.saveSession(session(key, id), { fence: own });
    await journal.close();
    expect(slotsIn(path, 'sessions')).toEqual([{ slot: slotOf('key') }, { slot: slotOf('other') }]);
    await (await openJournal(path)).close(); // each row fits its sum, and the schema is that of today, letter by letter
  });

  it.each(['channel', 'body'])(
    'of version 3 with a row whose %s has changed is refused as damaged, as before (durability §1.7)',
    async (column) => {
      const path = await version3();
      {
        using database = openSqlite(path);
        database.exec(`UPDATE updates SET ${column} = 'x'`);
      }
      await expect(openJournal(path)).rejects.toMatchObject({ code: 'database-damaged' });
    },
  );
});

describe('the slot of a key (durability §11.11)', () => {
  it('stays the same for good, since rows keep it', () => {
    const keys = ['', 'a', '["telegram","main"]', '["telegram","main","4711",""]'];
    expect(keys.map(slotOf)).toEqual([715, 834, 946, 201]);
  });

  it('is one of 1,024, each of which has about as many keys', () => {
    const counts = new Map<number, number>();
    for (let at = 0; at < 102_400; at++) {
      const slot = slotOf(`["telegram","main","${at}",""]`);
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 1_024 }, (_, at) => at),
    );
    expect(Math.max(...counts.values())).toBeLessThan(170);
  });
});
