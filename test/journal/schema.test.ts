import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal, tendJournal } from '../../src/journal/index.js';
import { repairJournal, slotOf } from '../../src/journal/internal.js';
import { schema, schemaVersion } from '../../src/journal/rows/journal-schema.js';
import { testFolder } from '../support/folder.js';

const digestOf = (statements: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...statements].sort()))
    .digest('hex');

describe('the schema of a journal (durability §1.7)', () => {
  it('is the schema that the files of its version were made with, letter by letter', () => {
    expect(schemaVersion).toBe(4);
    expect(digestOf(schema)).toBe(
      '4df209b3ec8b851daeadec716a9ba48156e4e246e369b02e52c3d0f19eb4a621',
    );
  });

  it.each([1, 3, 5])(
    'of version %i is refused by whoever opens it, and stays as it was (durability §1.7)',
    async (version) => {
      const path = join(testFolder(), 'sluice.db');
      await (await openJournal(path)).close();
      {
        using database = openSqlite(path);
        database.exec(`PRAGMA user_version = ${version}`);
      }
      const before = readFileSync(path);
      for (const open of [openJournal, readJournal, tendJournal])
        await expect(open(path)).rejects.toMatchObject({
          code: 'not-a-journal',
          message: expect.stringContaining(`it is of version ${version}`),
        });
      await expect(repairJournal(path, 'now', new AbortController().signal)).rejects.toThrow(
        `it is of version ${version}`,
      );
      expect(readFileSync(path).equals(before)).toBe(true);
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
