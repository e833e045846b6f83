import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSqlite, type SqliteDatabase } from '../../../src/journal/index.js';
import { tables } from '../../../src/journal/internal.js';
import { packedRow, unpacked } from '../../../src/journal/rows/packed-dispatches.js';
import { bodySum, headSum } from '../../../src/journal/rows/row-sums.js';
import {
  checkpointsIn,
  exportedLines,
  recordPlace,
  someDispatches,
  verifyFile,
  verifyLines,
  writeRecord,
} from './record-lab.js';

/** Edits of each kind of place. `SLUICE_RECORD_EDITS` asks for more: 10 000, say. */
const numRuns = Number(process.env['SLUICE_RECORD_EDITS'] ?? 300);
const timeout = 60_000 + numRuns * 100;

/** A journal whose record is whole, with what is kept of it elsewhere. */
async function aRecord() {
  const place = recordPlace();
  await writeRecord(place, someDispatches(40, 5));
  await writeRecord(place, someDispatches(25, 5, 40));
  return { place, lines: await exportedLines(place.path), trusted: checkpointsIn(place) };
}

/** Copies a journal without what an earlier copy has left beside it. */
function copyAnew(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(to + suffix, { force: true });
  copyFileSync(from, to);
}

/** Characters of each class that a text may get. */
const characters = fc.constantFrom(
  'a',
  'Z',
  '0',
  '9',
  '"',
  '\\',
  '{',
  '}',
  ',',
  ':',
  ' ',
  '\n',
  'ä',
  '😀',
  '-',
  '_',
  '.',
);

/** A text with one edit: a character is put in, taken away, doubled or another one, two change places, or its end is gone. */
function edited(text: string, how: number, at: number, other: string): string {
  const from = text.length === 0 ? 0 : at % text.length;
  const [before, one, after] = [
    text.slice(0, from),
    text.slice(from, from + 1),
    text.slice(from + 1),
  ];
  const kinds = [
    () => before + other + after,
    () => before + after,
    () => before + other + one + after,
    () => before + one + one + after,
    () => before + after.slice(0, 1) + one + after.slice(1),
    () => before,
  ];
  return Buffer.from(kinds[how % kinds.length]?.() ?? text).toString(); // no half of a surrogate pair is persisted
}

describe('an exported file after each single edit (record §4.2)', () => {
  it('is found to be changed: a line is edited, taken away, put in again, moved or exchanged', {
    timeout,
  }, async () => {
    const { lines, trusted } = await aRecord();
    const found = async (changed: readonly string[]) =>
      (await verifyLines(changed, trusted))?.findings ?? 'no export';
    expect(await found(lines)).toEqual([]);
    const line = fc.nat({ max: lines.length - 1 });
    await fc.assert(
      fc.asyncProperty(
        line,
        line,
        fc.nat(9),
        fc.nat(),
        characters,
        async (at, to, how, where, other) => {
          const [one = '', two = ''] = [lines[at], lines[to]];
          const ways = [
            () => lines.toSpliced(at, 1),
            () => lines.toSpliced(to, 0, one),
            () => lines.toSpliced(at, 1).toSpliced(to, 0, one),
            () => lines.toSpliced(at, 1, two).toSpliced(to, 1, one),
            () => lines.slice(0, at),
          ];
          const changed =
            how < 5
              ? (ways[how]?.() ?? [])
              : lines.toSpliced(at, 1, edited(one, where, where >> 3, other));
          fc.pre(JSON.stringify(changed) !== JSON.stringify(lines));
          expect(await found(changed)).not.toEqual([]);
        },
      ),
      { numRuns },
    );
  });
});

type Row = Record<string, string | number | null>;

/** Writes a row as somebody does who makes its sums fit. */
function put(database: SqliteDatabase, row: Row, seq = row['seq']): void {
  const body_sum = bodySum(row['body'] ?? null);
  const whole: Row = { ...row, body_sum };
  const all: Row = { ...whole, sum: headSum(tables.dispatchesTable, whole) };
  database.prepare('DELETE FROM dispatches WHERE seq = ?').run(seq ?? null);
  const columns = Object.keys(all);
  database
    .prepare(`INSERT OR REPLACE INTO dispatches (${columns}) VALUES (${columns.map(() => '?')})`)
    .run(...Object.values(all));
}

describe('the rows of a journal after each single edit, with sums that fit (record §4.2)', () => {
  const rowsIn = (database: SqliteDatabase): Row[] =>
    database
      .prepare('SELECT * FROM dispatches ORDER BY seq')
      .all()
      .map((row) => ({ ...row }) as Row);

  it('are found to be changed: a column, a record in a row, a row', { timeout }, async () => {
    const { place, trusted } = await aRecord();
    const copy = join(place.folder, 'edited.db');
    const look = () => verifyFile(copy, trusted);
    await fc.assert(
      fc.asyncProperty(
        ...[fc.nat(), fc.nat(), fc.nat(11), fc.nat(), characters],
        async (at, to, how, where, other) => {
          copyAnew(place.path, copy);
          {
            using database = openSqlite(copy);
            const rows = rowsIn(database);
            const row = rows[at % rows.length] ?? {};
            const second = rows[to % rows.length] ?? {};
            const seq = Number(row['seq']);
            const records = unpacked(tables.dispatchesTable.record(row));
            const withRecords = (next: typeof records): Row => {
              const last = next.at(-1);
              if (last === undefined) return {};
              const { seq: _, ...packed } = packedRow(next, last) as typeof last;
              const columns = tables.dispatchesTable.row({ ...packed, omitted: 'packed' as never });
              return { ...row, ...(columns as Row) };
            };
            const nth = where % records.length;
            const one = records[nth];
            if (one === undefined) throw new Error('a row has records');
            const columns = Object.keys(row).filter((name) => !/sum$/.test(name));
            const column = columns[to % columns.length] ?? '';
            const fields = [
              'eventId',
              'family',
              'correlationId',
              'sessionId',
              'status',
              'omitted',
              'proof',
              'body',
              'occurredAtMs',
            ];
            const field = fields[to % fields.length] ?? '';
            const value = Reflect.get(one, field);
            const next =
              typeof value === 'number'
                ? value + 1 + (at % 9)
                : edited(String(value ?? ''), how, where, other);
            const ways = [
              () =>
                put(
                  database,
                  {
                    ...row,
                    [column]:
                      typeof row[column] === 'number'
                        ? Number(row[column]) + 1 + (at % 9)
                        : edited(String(row[column] ?? ''), at, where, other),
                  },
                  seq,
                ),
              () => put(database, withRecords(records.with(nth, { ...one, [field]: next }))),
              () => put(database, withRecords(records.with(nth, { ...one, [field]: next }))),
              () => put(database, withRecords(records.with(nth, { ...one, [field]: next }))),
              () => put(database, withRecords(records.with(nth, { ...one, [field]: next }))),
              () =>
                records.length > 1
                  ? put(database, withRecords(records.toSpliced(nth, 1)))
                  : database.prepare('DELETE FROM dispatches WHERE seq = ?').run(seq),
              () => put(database, withRecords(records.toSpliced(to % records.length, 0, one))),
              () => put(database, withRecords(records.toReversed())),
              () => database.prepare('DELETE FROM dispatches WHERE seq = ?').run(seq),
              () => put(database, { ...row, seq: 100_000 + at }, null as never),
              () => {
                put(database, { ...row, seq: Number(second['seq']) });
                put(database, { ...second, seq });
              },
              () => database.prepare('DELETE FROM dispatches WHERE seq > ?').run(seq),
            ];
            ways[how]?.();
            const same = (all: readonly Row[]) =>
              JSON.stringify(
                all.map((given) => {
                  try {
                    return unpacked(tables.dispatchesTable.record(given));
                  } catch {
                    return given;
                  }
                }),
              );
            fc.pre(same(rowsIn(database)) !== same(rows));
          }
          const findings = await look().then(
            ({ findings: all }) => all,
            (error) => [error],
          );
          expect(findings).not.toEqual([]);
        },
      ),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  });

  it('are found to be changed: a statement beside them', { timeout }, async () => {
    const { place, trusted } = await aRecord();
    const copy = join(place.folder, 'statements.db');
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), characters, async (at, how, where, other) => {
        copyAnew(place.path, copy);
        {
          using database = openSqlite(copy);
          const rows = database
            .prepare(
              "SELECT * FROM key_values WHERE namespace = '/record' AND key <> 'heads' ORDER BY key",
            )
            .all();
          const row: Row = { ...rows[at % rows.length] } as Row;
          const body = edited(String(row['body']), how, where, other);
          fc.pre(body !== row['body'] && Buffer.from(body).toString() === body);
          const whole: Row = { ...row, body, body_sum: bodySum(body) };
          const sum = headSum(tables.keyValuesTable, whole);
          if (how % 7 === 6)
            database.prepare('DELETE FROM key_values WHERE seq = ?').run(Number(row['seq']));
          else
            database
              .prepare('UPDATE key_values SET body = ?, body_sum = ?, sum = ? WHERE seq = ?')
              .run(body, Number(whole['body_sum']), sum, Number(row['seq']));
        }
        expect((await verifyFile(copy, trusted)).findings).not.toEqual([]);
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  });
});
