import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal } from '../../../src/host/index.js';
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

describe('the retention of a journal', () => {
  it('M8: drops a part at a time, and an update that comes meanwhile does not wait for its end (durability §5.3)', async () => {
    const path = await journalOf(2_000);
    const clock = settableClock();
    const journal = await openJournal(path, { clock, keepBytes: 1024 * 1024 });
    const reader = await readJournal(path);
    const left = async () => (await reader.dispatches({ limit: 10_000 })).length;
    const seen = [await left()];
    let leftAtAccept: number | undefined;
    void journal.accept(anUpdate('a')).then(async () => {
      leftAtAccept = await left();
    });
    while ((seen.at(-1) ?? 0) > 150) {
      await turn();
      seen.push(await left());
    }
    const steps = seen.slice(1).map((count, at) => (seen[at] ?? 0) - count);
    expect(seen[0]).toBeGreaterThan(1_000);
    expect(Math.max(...steps)).toBeLessThanOrEqual(500);
    expect(leftAtAccept).toBeGreaterThan(1_000);
    await reader.close();
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
