import { isSluiceError } from 'sluice-kernel';
import type { SqliteDatabase, SqliteStatement } from '../database/open-sqlite.js';
import type { SqliteValue, StoredRow } from '../database/sqlite-values.js';
import type { SummedTable } from './row-sums.js';
import { numberGiven } from './table-rows.js';

const rowsAtOnce = 64;

/** The failures one after another that end the reading number by number: far more than a page has rows. */
const failuresInARow = 1_000;

/** The rows of a table that could be read. */
interface ReadRows {
  /** The rows in the order of their numbers; not compared with their sums. */
  readonly rows: readonly StoredRow[];
  /** The reason why some may be missing. */
  readonly problem?: string;
}

/**
 * Reads the rows of a table past damaged pages, a step at a time: from the first on up to the damage, from the last back to it, and
 * the rows between number by number.
 *
 * @param condition an SQL condition, with its values.
 */
export function* rowsPastDamage(
  database: SqliteDatabase,
  { name, columns }: SummedTable,
  condition: string,
  values: readonly SqliteValue[],
): Generator<void, ReadRows> {
  const wanted = ['body', 'body_sum', 'sum', ...columns].join(', ');
  const select = (rest: string) =>
    database.prepare(`SELECT ${wanted} FROM ${name} WHERE (${condition}) AND ${rest}`);
  const up = select(`seq > ? ORDER BY seq LIMIT ?`);
  const first = yield* walk((after, limit) => up.stored(...values, after, limit), {
    start: 0,
    step: 1,
  });
  if (first.problem === undefined) return first;
  const down = select(`seq < ? ORDER BY seq DESC LIMIT ?`);
  const last = yield* walk((before, limit) => down.stored(...values, before, limit), {
    start: Number.MAX_SAFE_INTEGER,
    step: -1,
  });
  const from = seqOf(first.rows.at(-1)) ?? 0;
  const to = seqOf(last.rows.at(-1)) ?? numbersEnd(database, name);
  const rows = [...first.rows, ...(yield* oneByOne(select('seq = ?'), values, { from, to }))];
  return { rows: [...rows, ...[...last.rows].reverse()], problem: first.problem };
}

function* oneByOne(
  select: SqliteStatement,
  values: readonly SqliteValue[],
  { from, to }: { readonly from: number; readonly to: number },
): Generator<void, StoredRow[]> {
  const rows: StoredRow[] = [];
  let failures = 0;
  for (let seq = from + 1; seq < to && failures < failuresInARow; seq++) {
    if (seq % rowsAtOnce === 0) yield;
    try {
      rows.push(...select.stored(...values, seq));
      failures = 0;
    } catch (error) {
      if (!isSluiceError(error, 'database-damaged')) throw error;
      failures++;
    }
  }
  return rows;
}

/** Returns the number after the last one that was given, if that can be read. */
function numbersEnd(database: SqliteDatabase, name: string): number {
  try {
    return numberGiven(database, name) + 1;
  } catch (error) {
    if (!isSluiceError(error, 'database-damaged')) throw error;
    return Number.MAX_SAFE_INTEGER; // the failures end it
  }
}

/** Reads on from a number until there are no more rows, or they cannot be read. */
function* walk(
  read: (from: number, limit: number) => readonly StoredRow[],
  { start, step }: { readonly start: number; readonly step: 1 | -1 },
): Generator<void, ReadRows> {
  const rows: StoredRow[] = [];
  let from = start;
  let limit = rowsAtOnce;
  for (;;) {
    yield;
    try {
      const next = read(from, limit);
      const last = seqOf(next.at(-1));
      if (last === undefined) return { rows };
      const isInOrder = (last - from) * step > 0; // without order it would never end
      if (isInOrder) {
        rows.push(...next);
        from = last;
      } else if (limit === 1) return { rows, problem: `row ${last} is out of order` };
      else limit = 1;
    } catch (error) {
      if (!isSluiceError(error, 'database-damaged')) throw error;
      if (limit === 1) return { rows, problem: String(error.details['problem']) };
      limit = 1; // as near to it as can be
    }
  }
}

function seqOf(row: StoredRow | undefined): number | undefined {
  const seq = row?.['seq'];
  return typeof seq === 'number' ? seq : undefined;
}
