import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal } from '../../src/journal/index.js';
import { compactJournal } from '../../src/journal/internal.js';
import { testFolder } from '../support/folder.js';
import { aDispatch, anUpdate } from './journal-contract.js';

const never = new AbortController().signal;
const code = (wanted: string) => expect.objectContaining({ code: wanted });

/** A journal as an early version has left it: most of its pages are free, and it never gives them back. */
async function earlyJournal(): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  for (let at = 0; at < 20; at++) await journal.accept(anUpdate(`u-${at}`));
  const body = `"${'y'.repeat(8_000)}"`;
  for (let at = 0; at < 1_000; at++)
    journal.dispatched(aDispatch(`d-${at}`, { body, occurredAtMs: Date.now() }));
  await journal.close();
  using database = openSqlite(path);
  database.exec('PRAGMA auto_vacuum = NONE');
  database.exec('VACUUM');
  database.exec('DELETE FROM dispatches WHERE seq % 4 > 0');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return path;
}

async function contentOf(path: string): Promise<unknown> {
  const reader = await readJournal(path);
  const all = { limit: 10_000 };
  const content = [await reader.updates(all), await reader.dispatches(all)];
  await reader.close();
  return content;
}

describe('a journal that an early version has made', () => {
  it('L6: becomes small by a compaction, keeps all that it has, and shrinks by itself from then on (durability §5.5)', async () => {
    const path = await earlyJournal();
    const before = await contentOf(path);
    const { bytesBefore, bytesAfter } = await compactJournal(path, never);
    expect(bytesBefore).toBeGreaterThan(8_000_000);
    expect(bytesAfter).toBeLessThan(4_000_000);
    expect(statSync(path).size).toBe(bytesAfter);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect(await contentOf(path)).toEqual(before);
    using database = openSqlite(path, { readonly: true });
    expect(database.prepare('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
  });

  it('is not compacted while a host has it, nor where it is damaged: it stays as it was (durability §5.5)', async () => {
    const path = await earlyJournal();
    const journal = await openJournal(path);
    await expect(compactJournal(path, never)).rejects.toThrow(code('journal-in-use'));
    await journal.close();
    const { size } = statSync(path);
    truncateSync(path, Math.floor(size / 2));
    await expect(compactJournal(path, never)).rejects.toThrow(code('database-damaged'));
    expect(statSync(path).size).toBe(Math.floor(size / 2));
  });
});
