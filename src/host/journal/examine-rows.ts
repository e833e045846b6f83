import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import type { StoredRow } from '../sqlite/sqlite-texts.js';
import { journalTables } from './journal-rows.js';
import { rowProblem, type SummedTable } from './row-sums.js';
import { type Damage, damageError } from './table-rows.js';

/** Rows that are read at once: a body may have some hundred kB. */
const rowsAtOnce = 64;

/**
 * Looks at every row of a journal, whatever its state says. It is a step at a time, so that its reader may do something
 * else in between.
 *
 * @returns for each step what is damaged among its rows: nothing, as a rule.
 * @throws SluiceError what reading throws: `database-damaged` where the tables themselves are.
 * @example
 * for (const damaged of examineRows(database)) for (const { table, problem } of damaged) warn(table, problem);
 */
export function* examineRows(database: SqliteDatabase): Generator<readonly Damage[], void> {
  for (const table of journalTables) {
    const columns = ['body', 'body_sum', 'sum', ...table.columns];
    const next = database.prepare(
      `SELECT ${columns.join(', ')} FROM ${table.name} WHERE seq > ? ORDER BY seq LIMIT ${rowsAtOnce}`,
    );
    let after = 0;
    for (;;) {
      const rows = next.stored(after);
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

function damagedOf(table: SummedTable, row: StoredRow): Damage[] {
  const problem = rowProblem(table, row);
  return problem === undefined ? [] : [{ table: table.name, row, problem }];
}
