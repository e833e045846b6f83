import { getOrMake, isSluiceError, type SluiceError } from 'sluice-kernel/internal';
import type { SqliteDatabase, SqliteRow, SqliteStatement } from '../database/open-sqlite.js';
import type { SqliteValue, StoredRow } from '../database/sqlite-values.js';
import { journalError } from '../errors.js';
import { type CleanText, cleanTexts } from './clean-body.js';
import { bodySum, headSum, type RowValues, rowProblem, type SummedTable } from './row-sums.js';

/** A damage in a table. */
export interface Damage {
  /** Absent if the damage is of the whole file. */
  readonly table?: string;
  /** The row, if its sum is wrong or one of its texts is not UTF-8; absent if pages cannot be read. */
  readonly row?: StoredRow;
  /** The damage in words, with the column if it is known. */
  readonly problem: string;
}

/** The options of reading rows. By default rows are read whole, and damage is an error. */
export interface HowRead {
  /** Is told of each damaged row. */
  readonly onDamaged?: ((damage: Damage) => void) | undefined;
  /** Leaves the bodies out: they are neither read nor compared with their sums. */
  readonly withoutBody?: boolean;
}

/**
 * The rows of one table, each with its sums. Each row is compared with its sums when it is read; a damaged row is never
 * returned: `database-damaged`, with the table, the row's number and its column. Writes are within a transaction of the caller.
 */
export interface TableRows {
  /** The number of the next row. */
  nextSeq(): number;
  /**
   * Adds a row with the next number, or with the one in `seq`.
   *
   * @param how.isLookedUp reads the last number first; `unlessIn` is a column: if a row has the same value there, nothing is added.
   * @returns the row, without its body.
   */
  add(values: RowValues, how?: { isLookedUp?: boolean; unlessIn?: string }): SqliteRow | undefined;
  /** The first row that a condition fits, without its body: what may follow `WHERE`, but for `LIMIT`. */
  find(condition: string, ...values: readonly SqliteValue[]): SqliteRow | undefined;
  /** The rows that a condition fits: what may follow `WHERE`. */
  read(condition: string, values: readonly SqliteValue[], how?: HowRead): SqliteRow[];
  /** Writes other values into a row that `find`, `add` or `change` gave. @returns the row, without its body. */
  change(row: SqliteRow, changes: RowValues): SqliteRow;
  /** Deletes the rows that a condition fits: what may follow `WHERE`. @returns how many. */
  delete(condition: string, ...values: readonly SqliteValue[]): number;
}

/**
 * Opens a table for reading and writing rows. Statements are compiled once for each shape.
 *
 * @param clean takes secrets out of free texts before they are written (spec §20.8).
 * @example
 * const updates = tableRows(database, updatesTable);
 * const row = updates.find('event_id = ?', 'u-1');
 * if (row?.['state'] === 'accepted') updates.change(row, { state: 'handling' });
 */
export function tableRows(
  database: SqliteDatabase,
  table: SummedTable,
  clean?: CleanText,
): TableRows {
  const { name } = table;
  const cleaned = (values: RowValues): RowValues =>
    clean === undefined ? values : cleanTexts(name, values, clean);
  const head = ['body_sum', 'sum', ...table.columns];
  const whole = ['body', ...head];
  /** The columns of a row without its body, in their order, with their sum. */
  const headOf = (row: RowValues): SqliteRow =>
    Object.fromEntries(
      head.map((column) => [
        column,
        column === 'sum' ? headSum(table, row) : (row[column] ?? null),
      ]),
    );
  const statements = new Map<string, SqliteStatement>();
  const statement = (sql: string): SqliteStatement =>
    getOrMake(statements, sql, () => database.prepare(sql));
  const good = (rows: readonly StoredRow[], onDamaged?: (damage: Damage) => void): SqliteRow[] =>
    goodRows(table, rows, (damage) => {
      if (onDamaged === undefined) throw damageError(database.path, damage);
      onDamaged(damage);
    });

  let nextSeq: number | undefined;
  const lastSeq = (): number => {
    const sql = `SELECT max((SELECT coalesce(max(seq), 0) FROM ${name}),
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)) AS seq`;
    return Number(statement(sql).get(name)?.['seq']);
  };

  let { revision } = database;
  const next = (): number => {
    if (revision !== database.revision) nextSeq = undefined; // the numbers of a transaction that was rolled back are free again
    revision = database.revision;
    return (nextSeq ??= lastSeq() + 1);
  };

  return {
    nextSeq: next,
    add: (given, { isLookedUp = false, unlessIn } = {}) => {
      const values = cleaned(given);
      if (isLookedUp) nextSeq = undefined;
      const seq = values['seq'] ?? next();
      if (typeof seq !== 'number' || !Number.isSafeInteger(seq))
        throw journalError('database-damaged', {
          path: database.path,
          problem: `the next row of ${name} would have the number ${seq}`,
        });
      const body = values['body'] ?? null;
      const row = headOf({ ...values, seq, body_sum: bodySum(body) });
      const unless = unlessIn === undefined ? '' : ` ON CONFLICT (${unlessIn}) DO NOTHING`;
      try {
        const { changes } = statement(
          `INSERT INTO ${name} (${whole.join(', ')}) VALUES (${whole.map(() => '?').join(', ')})${unless}`,
        ).run(body, ...Object.values(row));
        if (changes === 0) return undefined;
        if (nextSeq !== undefined) nextSeq = Math.max(nextSeq, seq + 1);
        return row;
      } catch (error) {
        nextSeq = undefined; // somebody else may have written
        throw error;
      }
    },
    find: (condition, ...values) => {
      const sql = `SELECT ${head.join(', ')} FROM ${name} WHERE ${condition} LIMIT 1`;
      return good(statement(sql).stored(...values))[0];
    },
    read: (condition, values, { onDamaged, withoutBody = false } = {}) => {
      const sql = `SELECT ${(withoutBody ? head : whole).join(', ')} FROM ${name} WHERE ${condition}`;
      return good(statement(sql).stored(...values), onDamaged);
    },
    change: (row, given) => {
      const { body, ...changes } = cleaned(given);
      const sums = body === undefined ? {} : { body_sum: bodySum(body) };
      const changed = headOf({ ...row, ...changes, ...sums });
      const values: RowValues = { ...changes, ...(body !== undefined && { body, ...sums }) };
      const sets = [...Object.keys(values), 'sum'].map((column) => `${column} = ?`);
      const written = [...Object.values(values), changed['sum'], row['seq'], row['sum']];
      const sql = `UPDATE ${name} SET ${sets.join(', ')} WHERE seq = ? AND sum = ?`;
      if (statement(sql).run(...written.map((value) => value ?? null)).changes > 0) return changed;
      const damage = { table: name, row, problem: 'it is not as it was written' };
      throw damageError(database.path, damage);
    },
    delete: (condition, ...values) =>
      statement(`DELETE FROM ${name} WHERE ${condition}`).run(...values).changes,
  };
}

/** Returns the rows whose sums fit, and tells of the others. */
export function goodRows(
  table: SummedTable,
  rows: readonly StoredRow[],
  onDamaged: (damage: Damage) => void,
): SqliteRow[] {
  return rows.flatMap((row) => {
    const problem = rowProblem(table, row);
    if (problem === undefined) return [row as SqliteRow]; // it has no bytes
    onDamaged({ table: table.name, row, problem });
    return [];
  });
}

/** Returns the last number that was given to a row of a table; the row may be gone. */
export function numberGiven(database: SqliteDatabase, name: string): number {
  const row = database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(name);
  return Number(row?.['seq'] ?? 0);
}

/** Goes on after a number that was given, so that no number comes twice. */
export function continueNumbers(database: SqliteDatabase, name: string, given: number): void {
  if (!Number.isSafeInteger(given) || given <= numberGiven(database, name)) return;
  database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
  database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, given);
}

/** Makes the error of a damaged row, which names the row. */
export function damageError(path: string, damage: Damage): SluiceError {
  const { table, row } = damage;
  const seq = row === undefined ? undefined : Number(row['seq']);
  return journalError('database-damaged', { path, problem: damageLine(damage), table, seq });
}

/** Writes damage in words: the row, and its mistake. */
export function damageLine({ table, row, problem }: Damage): string {
  return row === undefined ? problem : `row ${Number(row['seq'])} of ${table}, ${problem}`;
}

/** Returns whether an error is about one damaged row: nothing was written, and the database goes on. */
export function isOfOneRow(error: unknown): boolean {
  return isSluiceError(error, 'database-damaged') && error.details['table'] !== undefined;
}

/** Returns whether the journal refuses a write for good: its row is damaged or has ended, or a value cannot be persisted. */
export function isRefusedForGood(error: unknown): boolean {
  if (isOfOneRow(error)) return true;
  return isSluiceError(error, 'journal-state') || isSluiceError(error, 'bad-value');
}
