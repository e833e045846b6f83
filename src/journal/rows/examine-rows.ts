import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import type { StoredRow } from '../database/sqlite-values.js';
import { journalTables } from './journal-rows.js';
import { rowProblem, type SummedTable } from './row-sums.js';
import { type Damage, damageError } from './table-rows.js';

/** The rows that are read at once, and the bytes of their bodies; a row that is larger is read alone. */
const rowsAtOnce = 64;
const bytesAtOnce = 512 * 1024;

/**
 * Looks at every row of a journal in any state. It goes a step at a time, so that its reader may do something
 * else in between.
 *
 * @returns for each step the damage among its rows; as a rule none.
 * @throws SluiceError of reading: `database-damaged` if the tables themselves are.
 * @example
 * for (const damaged of examineRows(database)) for (const { table, problem } of damaged) warn(table, problem);
 */
export function* examineRows(database: SqliteDatabase): Generator<readonly Damage[], void> {
  for (const table of journalTables) {
    const columns = ['body', 'body_sum', 'sum', ...table.columns];
    // the size of a text is in the head of its row: what is long is not read for it
    const sizes = database.prepare(
      `SELECT octet_length(body) AS bytes FROM ${table.name} WHERE seq > ? ORDER BY seq LIMIT ${rowsAtOnce}`,
    );
    const next = database.prepare(
      `SELECT ${columns.join(', ')} FROM ${table.name} WHERE seq > ? ORDER BY seq LIMIT ?`,
    );
    let after = 0;
    for (;;) {
      const rows = next.stored(after, rowsWithin(bytesAtOnce, sizes.all(after)));
      const last = rows.at(-1)?.['seq'];
      if (typeof last !== 'number') break;
      yield rows.flatMap((row) => damagedOf(table, row));
      if (last <= after)
        throw damageError(database.path, {
          problem: `row ${last} of ${table.name} is out of order`,
        }); // it would never end
      after = last;
    }
  }
}

/** Does the same. @throws SluiceError `database-damaged` for the first damage. @param path named in it. */
export function* checkRows(database: SqliteDatabase, path = database.path): Generator<void, void> {
  for (const [first] of examineRows(database)) {
    if (first !== undefined) throw damageError(path, first);
    yield;
  }
}

/** Counts the next rows that fit into some bytes together; at least one. */
function rowsWithin(bytes: number, sizes: readonly SqliteRow[]): number {
  let sum = 0;
  const first = sizes.findIndex((row) => {
    sum += Number(row['bytes'] ?? 0);
    return sum > bytes;
  });
  return Math.max(1, first === -1 ? sizes.length : first);
}

function damagedOf(table: SummedTable, row: StoredRow): Damage[] {
  const problem = rowProblem(table, row);
  return problem === undefined ? [] : [{ table: table.name, row, problem }];
}
