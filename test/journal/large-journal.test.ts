import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openJournal, openSqlite, type SqliteDatabase } from '../../src/journal/index.js';
import { examineRows } from '../../src/journal/rows/examine-rows.js';
import { fence } from '../support/fences.js';
import { testFolder } from '../support/folder.js';
import { aDispatch, anUpdate, aSend, settableClock } from './journal-contract.js';

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
      await vi.waitFor(found, { timeout: 280_000, interval: 20 });
      await expect(journal.accept(anUpdate('b'))).rejects.toMatchObject({
        code: 'database-damaged',
      });
      expect(await journal.updates()).toMatchObject([{ eventId: 'a' }]);
      await journal.close();
    },
    300_000,
  );

  it('L6: is closed at any time: the look at it ends', async () => {
    const path = await journalOf(500);
    const journal = await openJournal(path, { wholeCheckBytes: 1024 * 1024 });
    await journal.close();
    expect(journal.problem()).toBeUndefined();
  });

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
  });
});

describe('a look at every row', () => {
  it('M8: reads a large row alone, and small ones together (durability §1.3)', async () => {
    const path = newPath();
    const journal = await openJournal(path);
    const sizes = [
      ...Array.from({ length: 12 }, () => 400_000),
      ...Array.from({ length: 200 }, () => 8),
    ];
    await Promise.all(
      sizes.map((size, at) =>
        journal.prepare(fence, aSend(`s-${at}`, { body: 'ä'.repeat(size / 2) })),
      ),
    );
    await journal.close();
    using database = openSqlite(path);
    const steps: { bytes: number; rows: number }[] = [];
    const counted: SqliteDatabase = {
      ...database,
      path,
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          ...statement,
          stored: (...values) => {
            const rows = statement.stored(...values);
            const texts = rows.map(({ body }) => Buffer.byteLength(String(body)));
            steps.push({ rows: rows.length, bytes: texts.reduce((sum, one) => sum + one, 0) });
            return rows;
          },
          all: (...values) => statement.all(...values),
        };
      },
    };
    for (const damaged of examineRows(counted)) expect(damaged).toEqual([]);
    expect(steps.reduce((sum, { rows }) => sum + rows, 0)).toBe(sizes.length);
    expect(Math.max(...steps.map(({ bytes }) => bytes))).toBeLessThanOrEqual(512 * 1024);
    expect(Math.max(...steps.map(({ rows }) => rows))).toBe(64);
  });
});

describe('the transcript of a session that was reset', () => {
  it('M8: is dropped a part at a time, from its end, before the session is another (durability §5.4)', async () => {
    const path = newPath();
    const journal = await openJournal(path);
    const { store } = journal;
    const session = (sessionId: string) => ({
      sessionKey: 'k',
      sessionId,
      agentId: 'main',
      context: {},
      memoryKeys: [],
      metadata: {},
    });
    await store.saveSession(session('one'), { fence });
    const large = 'x'.repeat(1_500_000);
    const texts = Array.from({ length: 450 }, (_, at) => (at < 8 ? large : `m-${at}`));
    await Promise.all(
      texts.map((content) => store.appendMessage('one', { role: 'user', content }, { fence })),
    );
    using reader = openSqlite(path, { readonly: true });
    const left = reader.prepare(
      'SELECT count(*) AS n, coalesce(max(messages), 0) AS newest, coalesce(sum(octet_length(body)), 0) AS bytes FROM transcripts',
    );
    const seen = [left.get()];
    let isOver = false;
    const reset = store.saveSession(session('two'), { fence }).then(() => {
      isOver = true;
    });
    for (; !isOver; await turn()) seen.push(left.get());
    await reset;
    seen.push(left.get());
    const steps = (column: string) =>
      seen.slice(1).map((row, at) => Number(seen[at]?.[column]) - Number(row?.[column]));
    expect(seen.at(-1)).toMatchObject({ n: 0 });
    expect(Math.max(...steps('n'))).toBeLessThanOrEqual(100);
    expect(Math.max(...steps('bytes'))).toBeLessThan(6_000_000);
    for (const row of seen) expect(row?.['n']).toBe(row?.['newest']); // what is left is a transcript
    expect(await store.loadSession('k')).toMatchObject({ sessionId: 'two' });
    await journal.close();
  });
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
  });

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
  });
});
