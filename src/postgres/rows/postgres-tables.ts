import type { DispatchRecord, UpdateRecord } from '@sluice/journal';
import {
  journalTable,
  markedOutcome,
  type RecordTable,
  tables,
  unmarkedOutcome,
} from '@sluice/journal/internal';
import type { PostgresQuery, PostgresValue } from './connections.js';

/** The types of columns by their names. */
type Types = Readonly<Record<string, string>>;

/** A table of records, as a file has it too, in the words of PostgreSQL. */
export interface PostgresTable<Row> extends Omit<RecordTable<Row>, 'declared' | 'columns' | 'row'> {
  /** The name of the table in a file: secrets are taken out of both alike. */
  readonly kind: string;
  /** The field that names a record. */
  readonly idField: keyof Row & string;
  /** The types of its columns, without its numbers. */
  readonly types: Types;
  /** Turns a record into columns. */
  row(record: object): Readonly<Record<string, PostgresValue | undefined>>;
}

/** The partition of a row, as the journal is divided now. */
export const partitionOfRow = 'coalesce(slot, 0) % (SELECT partitions FROM sluice_journal)';

const words: Types = { TEXT: 'text', REAL: 'float8', INTEGER: 'int4' };

/** @param numbered declares its numbers. */
function postgresTable<Row>(
  { declared, columns: _, ...table }: RecordTable<Row>,
  idField: keyof Row & string,
  numbered = 'seq int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  division = '',
): PostgresTable<Row> {
  const name = `sluice_${table.name}`;
  const { seq: __, ...others } = declared;
  const columns = Object.values(others).map((declaration) =>
    declaration.replace(/TEXT|REAL|INTEGER/, (word) => words[word] ?? word),
  );
  return {
    ...{ ...table, name, kind: table.name, idField },
    types: Object.fromEntries(columns.map((column) => column.split(' ', 2))),
    sql: `CREATE TABLE ${name} (${[numbered, ...columns].join(', ')})${division}`,
  };
}

const updates = journalTable<Omit<UpdateRecord, 'scrubbedAtMs'>>('updates', {
  ...tables.updateFields,
  retriedAfterSeq: 'retried_after_seq int8',
  joinedTo: 'joined_to TEXT',
});

export const updatesTable = postgresTable<UpdateRecord>(
  {
    ...{ ...tables.updatesTable, ...updates },
    row: (fields) => updates.row(markedOutcome(fields)),
    record: (row) => unmarkedOutcome(updates.record(row)),
  },
  'eventId',
);
export const sendsTable = postgresTable(tables.sendsTable, 'sendId');

const dispatches = journalTable<DispatchRecord>('dispatches', {
  ...tables.dispatchFields,
  proof: 'proof TEXT',
});

/** It is divided by days. A column of a table that is divided cannot number its rows before PostgreSQL 17. */
export const dispatchesTable = postgresTable(
  {
    ...{ ...tables.dispatchesTable, ...dispatches },
    record: (row) => {
      const record = dispatches.record(row);
      return { ...record, sessionId: record.sessionId ?? null }; // null is a value of this field
    },
  },
  'eventId',
  `seq int8 NOT NULL DEFAULT nextval('sluice_dispatch_numbers')`,
  ' PARTITION BY RANGE (occurred_at_ms)',
);

/** The columns of a table for `SELECT`. */
export function columnsOf({ types }: { readonly types: Types }, withoutBody: boolean): string {
  const names = ['seq', ...Object.keys(types)];
  return names.filter((name) => !withoutBody || name !== 'body').join(', ');
}

/** Adds records, in their order. */
export function insertAll<Row>(
  writes: JoinedWrites,
  { name, types, row }: PostgresTable<Row>,
  records: readonly object[],
): void {
  const insert = (given: string, names: string): string =>
    `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${given} ORDER BY at`;
  writes.addRows(types, records.map(row), insert);
}

/** Writes changed records, each with its new body if it is to have another one. */
export function updateAll<Row>(
  writes: JoinedWrites,
  { name, types, idColumn, row }: PostgresTable<Row>,
  changed: readonly (readonly [record: object, hasBody: boolean])[],
): void {
  const sets = Object.keys(types)
    .filter((column) => column !== idColumn)
    .map((column) =>
      column === 'body'
        ? 'body = CASE WHEN given.has_body THEN given.body ELSE kept.body END'
        : `${column} = given.${column}`,
    );
  const rows = changed.map(([record, hasBody]) => ({ ...row(record), has_body: hasBody }));
  const update = (given: string): string =>
    `UPDATE ${name} AS kept SET ${sets.join(', ')} FROM ${given} WHERE kept.${idColumn} = given.${idColumn}`;
  writes.addRows({ ...types, has_body: 'bool' }, rows, update);
}

type Values = NonNullable<Parameters<PostgresQuery>[1]>;

/**
 * The writes at the end of a transaction, as one statement: each is a part of its `WITH`, so that all of them cost one round trip.
 * None sees what another has written, and no two write the same row.
 */
export class JoinedWrites {
  readonly #parts: string[] = [];
  readonly #values: Values[number][] = [];

  /** Adds a write. @param name for parts that come after it and read what it returns. */
  add(sql: string, values: Values, name = `part_${this.#parts.length}`): void {
    const before = this.#values.length;
    const numbered = sql.replaceAll(/\$(\d+)/g, (_, at) => `$${before + Number(at)}`);
    this.#parts.push(`${name} AS (${numbered})`);
    this.#values.push(...values);
  }

  /**
   * Adds a write of some rows, if there are any.
   *
   * @param sql writes them: `given` is a table with the names of the columns, and with `at`, the place of a row.
   */
  addRows<Column extends string>(
    types: Readonly<Record<Column, string>>,
    rows: readonly { readonly [column in NoInfer<Column>]?: PostgresValue | undefined }[],
    sql: (given: string, names: string) => string,
  ): void {
    if (rows.length === 0) return;
    const columns = Object.keys(types) as Column[]; // its own keys
    const names = columns.join(', ');
    const lists = columns.map((column, at) => `$${at + 1}::${types[column]}[]`).join(', ');
    const values = columns.map((column) => rows.map((row) => row[column] ?? null));
    this.add(sql(`unnest(${lists}) WITH ORDINALITY AS given (${names}, at)`, names), values);
  }

  /** Runs all of them, if there are any. */
  async run(query: PostgresQuery): Promise<void> {
    if (this.#parts.length > 0)
      await query(`WITH ${this.#parts.join(',\n')} SELECT 1`, this.#values);
  }
}
