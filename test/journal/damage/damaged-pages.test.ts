import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixInnerPages } from '../../../src/journal/damage/fix-pages.js';
import { openJournal, openSqlite } from '../../../src/journal/index.js';
import { journalProblems, repairJournal } from '../../../src/journal/internal.js';
import { fence } from '../../support/fences.js';
import { type Dice, diceOf } from '../../support/journal-damage.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { aDispatch, anUpdate } from '../journal-contract.js';

const never = new AbortController().signal;
const pageBytes = 4_096;
const isWhole = process.env['PAGES'] === 'whole';
const tables = ['updates', 'sends', 'dispatches', 'sessions', 'transcripts', 'key_values'];

/** The ways in which a page is overwritten. */
const patterns: Readonly<Record<string, (page: Buffer, dice: Dice) => void>> = {
  zeros: (page) => void page.fill(0),
  ones: (page) => void page.fill(0xff),
  noise: (page, dice) => {
    for (let at = 0; at < page.length; at++) page[at] = dice(256);
  },
  'noise in its second half': (page, dice) => {
    for (let at = page.length / 2; at < page.length; at++) page[at] = dice(256);
  },
  'noise in its last bytes': (page, dice) => {
    for (let at = page.length - 16; at < page.length; at++) page[at] = dice(256);
  },
};

let whole: Buffer = Buffer.alloc(0);
let rows = 0;

/** A journal whose larger tables have pages above their leaves, and which has free pages. */
async function smallJournal(): Promise<Buffer> {
  using folder = temporaryFolder({});
  const path = join(folder.path, 'sluice.db');
  const journal = await openJournal(path);
  for (let at = 0; at < 60; at++) {
    const words = `words of ${at} `.repeat(at === 7 ? 900 : 30);
    await journal.accept(anUpdate(`u-${at}`, { body: JSON.stringify(words) }));
    journal.dispatched(aDispatch(`d-${at}`, { body: JSON.stringify({ words }) }));
    await journal.store.appendMessage('one', { role: 'user', content: words }, { fence });
    await journal.keyValues.write('notes', `key ${at}`, { body: JSON.stringify(words) }, {});
  }
  await journal.close();
  using database = openSqlite(path);
  const counts = tables.map((name) => database.prepare(`SELECT count(*) AS n FROM ${name}`).get());
  rows = counts.reduce((sum, row) => sum + Number(row?.['n']), 0);
  database.close();
  return readFileSync(path);
}

/** The rows that are gone with a page: those of a leaf of a table, or the one whose text goes on there. */
function rowsOn(page: number): number {
  const at = (page - 1) * pageBytes;
  const entry = pageBytes + (page - 3) * 5;
  const kind = page < 3 ? 'head' : whole[entry];
  if (kind === 3 || kind === 4) return 1;
  return (kind === 1 || kind === 5) && whole[at] === 0x0d ? whole.readUInt16BE(at + 3) : 0;
}

/** Overwrites pages, repairs, and says why that was not right. */
async function repaired(pages: readonly number[], pattern: string): Promise<readonly string[]> {
  using folder = temporaryFolder({});
  const path = join(folder.path, 'sluice.db');
  const bytes = Buffer.from(whole);
  for (const page of pages)
    patterns[pattern]?.(bytes.subarray((page - 1) * pageBytes, page * pageBytes), diceOf(page));
  writeFileSync(path, bytes);
  const faults: string[] = [];
  try {
    const { status, kept, problems } = await repairJournal(path, 'x', never);
    const isWithoutMap = pages.length > 1 && pages.includes(2); // nothing says then where a page above others led to
    const least = isWithoutMap ? 1 : rows - pages.reduce((sum, page) => sum + rowsOn(page), 0);
    if (status === 'repaired' && kept < least)
      faults.push(`kept ${kept} of ${rows}, and ${least} were not touched`);
    if (status === 'repaired' && problems.length === 0) faults.push('nothing was said to be wrong');
    faults.push(...(await journalProblems(path, never)));
    const journal = await openJournal(path);
    await journal.accept(anUpdate('afterwards'));
    await journal.close();
  } catch (error) {
    faults.push(String((error as Error).stack));
  }
  const left = readdirSync(folder.path).filter((name) => name.includes('.repaired'));
  return [...faults, ...left].map((fault) => `${pattern} at ${pages.join(', ')}: ${fault}`);
}

beforeAll(async () => {
  whole = await smallJournal();
});

describe('a repair of a journal', () => {
  const each = (): number[] => Array.from({ length: whole.length / pageBytes }, (_, at) => at + 1);

  it.each([...Object.keys(patterns).entries()])(
    'fixes each page alone that was overwritten with pattern %i, %s, and keeps every row of the others (durability §1.12)',
    async (at, pattern) => {
      const faults: string[] = [];
      // each page has two of the patterns here, and all of them by the flag
      const tried = each().filter((page) => isWhole || (page + at) % 5 < 2);
      for (const page of tried) faults.push(...(await repaired([page], pattern)));
      expect(faults).toEqual([]);
    },
    300_000,
  );

  it('leaves a file alone that is no journal, says so without an advice to repair it, and leaves nothing beside it', async () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'picture.png');
    const bytes = Buffer.from(Array.from({ length: 30 * pageBytes }, diceOf(3).bind(null, 256)));
    writeFileSync(path, bytes);
    await expect(repairJournal(path, 'x', never)).rejects.toMatchObject({
      code: 'journal-not-repaired',
      message: expect.not.stringContaining('journal repair'),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(folder.path)).toEqual(['picture.png', 'picture.png-lock']);
  });

  it('writes no page that the file does not have, whatever its map of pages says', () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'sluice.db');
    const bytes = Buffer.from(whole);
    bytes.fill(5, pageBytes, 2 * pageBytes); // each page stands below page 0x05050505
    writeFileSync(path, bytes);
    fixInnerPages(path);
    expect(statSync(path).size).toBe(whole.length);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('fixes several pages at once', async () => {
    const dice = diceOf(7);
    const faults: string[] = [];
    for (let round = 0; round < 40; round++) {
      const pages = [dice, dice, dice].map((roll) => 1 + roll(each().length));
      faults.push(...(await repaired([...new Set(pages)], Object.keys(patterns)[round % 4] ?? '')));
    }
    expect(faults).toEqual([]);
  }, 300_000);
});
