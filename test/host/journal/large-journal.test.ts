import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openJournal, openSqlite } from '../../../src/host/index.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch, anUpdate, settableClock } from './journal-contract.js';

const newPath = () => join(testFolder(), 'sluice.db');
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A closed journal with so many dispatches of 8 kB. */
async function journalOf(dispatches: number): Promise<string> {
  const path = newPath();
  const journal = await openJournal(path);
  const body = `"${'y'.repeat(8_000)}"`;
  for (let at = 0; at < dispatches; at++)
    journal.dispatched(aDispatch(`d-${at}`, { body, occurredAtMs: Date.now() }));
  await journal.close();
  return path;
}

/** A closed journal of some MB whose file was changed. */
async function damagedJournal(damage: (bytes: Buffer) => void): Promise<string> {
  const path = await journalOf(500);
  const bytes = readFileSync(path);
  damage(bytes);
  writeFileSync(path, bytes);
  return path;
}

describe('a large journal', () => {
  it.each<[string, (bytes: Buffer) => void]>([
    [
      'one bit of a row',
      (bytes) => {
        const at = bytes.lastIndexOf('yyyy');
        bytes[at] = (bytes[at] ?? 0) ^ 1;
      },
    ],
    ['a page', (bytes) => bytes.fill(0xff, 40 * 4_096, 41 * 4_096)],
  ])(
    'L6: is used before all of it was looked at, and takes nothing more in when damage is found: %s (durability §1.3)',
    async (_, damage) => {
      const path = await damagedJournal(damage);
      await expect(openJournal(path)).rejects.toMatchObject({ code: 'database-damaged' });
      const journal = await openJournal(path, { wholeCheckBytes: 1024 * 1024 });
      expect(journal.problem()).toBeUndefined();
      expect(await journal.accept(anUpdate('a'))).toEqual({ status: 'accepted' });
      const found = () => expect(journal.problem()).toMatchObject({ code: 'database-damaged' });
      await vi.waitFor(found, { timeout: 60_000, interval: 20 });
      await expect(journal.accept(anUpdate('b'))).rejects.toMatchObject({
        code: 'database-damaged',
      });
      expect(await journal.updates()).toMatchObject([{ eventId: 'a' }]);
      await journal.close();
    },
    120_000,
  );

  it('L6: is closed at any time: the look at it ends', async () => {
    const path = await journalOf(500);
    const journal = await openJournal(path, { wholeCheckBytes: 1024 * 1024 });
    await journal.close();
    expect(journal.problem()).toBeUndefined();
  }, 60_000);

  it('M8: gives many rows a part at a time, in order and each once (durability §1.8)', async () => {
    const path = await journalOf(1_200);
    const journal = await openJournal(path);
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      for (; !isOver; turns++) await turn();
    })();
    const rows = await journal.dispatches({ limit: 100_000 });
    isOver = true;
    await others;
    expect(rows.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: 1_200 }, (_, at) => `d-${at}`),
    );
    expect(turns).toBeGreaterThan(15); // 9.6 Mi characters, about 512 Ki at a time
    await journal.close();
  }, 60_000);
});

describe('the retention of a journal', () => {
  it('M8: drops a part at a time, and an update that comes meanwhile does not wait for its end (durability §5.3)', async () => {
    const path = await journalOf(2_000);
    const clock = settableClock();
    const journal = await openJournal(path, { clock, keepBytes: 1024 * 1024 });
    using reader = openSqlite(path, { readonly: true });
    const count = reader.prepare('SELECT count(*) AS n FROM dispatches');
    const left = () => Number(count.get()?.['n']);
    const seen = [left()];
    let leftAtAccept: number | undefined;
    void journal.accept(anUpdate('a')).then(() => {
      leftAtAccept = left();
    });
    while ((seen.at(-1) ?? 0) > 150) {
      await turn();
      seen.push(left());
    }
    const steps = seen.slice(1).map((count, at) => (seen[at] ?? 0) - count);
    expect(seen[0]).toBeGreaterThan(1_000);
    expect(Math.max(...steps)).toBeLessThanOrEqual(500);
    expect(leftAtAccept).toBeGreaterThan(1_000);
    await journal.close();
  }, 60_000);

  it('L6: gives what is free back to the disk: the file shrinks (durability §5.3)', async () => {
    const path = await journalOf(2_000);
    expect(statSync(path).size).toBeGreaterThan(12 * 1024 * 1024);
    const keepBytes = 1024 * 1024;
    const journal = await openJournal(path, { keepBytes });
    const pages = openSqlite(path, { readonly: true });
    const count = () => Number(pages.prepare('PRAGMA page_count').get()?.['page_count']);
    while (count() * 4_096 > keepBytes * 1.25) await turn();
    await journal.close();
    pages.close();
    expect(statSync(path).size).toBeLessThanOrEqual(keepBytes * 1.25);
  }, 60_000);
});
