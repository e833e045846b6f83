import type { SqliteRow } from '../../sqlite/open-sqlite.js';
import type { SqliteValue } from '../../sqlite/sqlite-values.js';
import type { RowValues, SummedTable } from './row-sums.js';

/** A table of the journal: its statement, and how a record becomes a row and a row a record. */
export interface JournalTable<Row> extends SummedTable {
  /** The statement that makes the table. */
  readonly sql: string;
  /** Turns some fields of a record into columns. A field that is undefined is null. A field that no record has is left out. */
  row(fields: { readonly [Field in keyof Row]?: SqliteValue | undefined }): RowValues;
  record(row: SqliteRow): Row;
}

/**
 * Describes a table by its columns: each stands under the field of its records, as `CREATE TABLE` declares it. The two
 * sums of a row are added.
 *
 * @example
 * journalTable<{ seq: number; body: string }>('notes', { seq: 'seq INTEGER PRIMARY KEY', body: 'body TEXT NOT NULL' });
 */
export function journalTable<Row>(
  name: string,
  declared: Readonly<Record<keyof Row & string, string>>,
): JournalTable<Row> {
  const declarations: readonly string[] = Object.values(declared);
  const columnOf = new Map(
    Object.entries<string>(declared).map(([field, column]) => [field, nameOf(column)]),
  );
  const bodySum = declarations.includes('body TEXT')
    ? 'body_sum INTEGER'
    : 'body_sum INTEGER NOT NULL';
  const all = [...declarations, bodySum, 'sum INTEGER NOT NULL'];
  return {
    name,
    columns: declarations.map(nameOf).filter((column) => column !== 'body'),
    sql: `CREATE TABLE ${name} (\n${all.map((column) => `    ${column}`).join(',\n')}\n  ) STRICT`,
    row: (fields) =>
      Object.fromEntries(
        Object.entries<SqliteValue | undefined>(fields).flatMap(([field, value]) => {
          const column = columnOf.get(field);
          return column === undefined ? [] : [[column, value ?? null] as const];
        }),
      ),
    record: (row) => {
      const entries = [...columnOf].map(([field, column]) => [field, row[column] ?? null] as const);
      const present = entries.filter(([, value]) => value !== null); // a column is null if its field is absent
      return Object.fromEntries(present) as Row; // the tables are STRICT, their sums fit, and their columns are those of the records
    },
  };
}

function nameOf(declaration: string): string {
  return declaration.split(' ', 1).join('');
}
