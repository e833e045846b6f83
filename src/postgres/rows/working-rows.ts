import {
  type ChangeableRows,
  type CleanText,
  cleanTexts,
  type FieldChanges,
} from '@sluice/journal/internal';
import type { PostgresQuery, PostgresValue } from './connections.js';
import {
  columnsOf,
  insertAll,
  type JoinedWrites,
  type PostgresTable,
  updateAll,
} from './postgres-tables.js';

interface Working<Record> {
  record: Record;
  isNew: boolean;
  isChanged: boolean;
  hasBody: boolean;
}

/** The rows that one transaction looks at: locked and read first, changed in memory, and written together. */
export class WorkingRows<Record extends { readonly seq: number }>
  implements ChangeableRows<Record, Record>
{
  readonly #table: PostgresTable<Record>;
  readonly #clean: CleanText | undefined;
  readonly #rows = new Map<string, Working<Record>>();

  constructor(table: PostgresTable<Record>, clean: CleanText | undefined) {
    this.#table = table;
    this.#clean = clean;
  }

  /**
   * Reads rows without their bodies, in the order of their numbers: two transactions never wait for each other.
   *
   * @param beside another reading, which goes along with it.
   * @returns the rows of that one.
   */
  async load(
    query: PostgresQuery,
    condition: string,
    values: readonly (PostgresValue | readonly PostgresValue[])[],
    beside?: string,
  ): Promise<Awaited<ReturnType<PostgresQuery>>> {
    const { name } = this.#table;
    const fields = columnsOf(this.#table, true);
    const locked = `SELECT ${fields} FROM ${name} WHERE ${condition} ORDER BY seq FOR UPDATE`;
    const both = `WITH locked AS (${locked})
      SELECT * FROM locked FULL JOIN (${beside}) AS beside ON false ORDER BY locked.seq`;
    const rows = await query(beside === undefined ? locked : both, values);
    const isOwn = (row: (typeof rows)[number]): boolean => row['seq'] !== null;
    for (const row of rows.filter(isOwn))
      this.#keep({
        ...{ isNew: false, isChanged: false, hasBody: false },
        record: this.#table.record(row),
      });
    return rows.filter((row) => !isOwn(row));
  }

  get all(): readonly Record[] {
    return [...this.#rows.values()].map(({ record }) => record);
  }

  find(id: string): Record | undefined {
    return this.#rows.get(id)?.record;
  }

  add(record: Omit<Record, 'seq'>): void {
    const clean = this.#cleaned(record) as Record; // the database gives it its number
    this.#keep({ record: clean, isNew: true, isChanged: false, hasBody: true });
  }

  change(row: Record, fields: FieldChanges<Record>): void {
    const working = this.#rows.get(this.#idOf(row));
    if (working === undefined) return; // it was found here
    working.record = Object.assign({}, working.record, this.#cleaned(fields));
    working.isChanged = true;
    working.hasBody ||= 'body' in fields;
  }

  /** Writes all that is new or changed. */
  flush(writes: JoinedWrites): void {
    const rows = [...this.#rows.values()];
    const added = rows.filter(({ isNew }) => isNew).map(({ record }) => record);
    insertAll(writes, this.#table, added);
    const changed = rows.filter(({ isNew, isChanged }) => isChanged && !isNew);
    updateAll(writes, this.#table, changed);
  }

  #keep(working: Working<Record>): void {
    this.#rows.set(this.#idOf(working.record), working);
  }

  #idOf(record: Record): string {
    return String(record[this.#table.idField]);
  }

  #cleaned<Values extends object>(values: Values): Values {
    return this.#clean === undefined ? values : cleanTexts(this.#table.kind, values, this.#clean);
  }
}
