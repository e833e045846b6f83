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

/**
 * The rows that one transaction looks at: locked and read first, changed in memory, and written together. Two transitions of one row in one
 * transaction see each other here, and not in the database: so a transaction takes as many statements, however many messages share it.
 */
export class WorkingRows<Record extends { readonly seq: number; readonly body?: string }>
  implements ChangeableRows<Record, Record>
{
  readonly #table: PostgresTable<Record>;
  readonly #clean: CleanText;
  readonly #withBodies: boolean;
  readonly #rows = new Map<string, Record>();
  readonly #added = new Set<string>();
  /** The rows that were changed, and whether their bodies were. */
  readonly #changed = new Map<string, boolean>();

  /** @param withBodies reads the bodies, too: their rows may end. */
  constructor(table: PostgresTable<Record>, clean: CleanText = (text) => text, withBodies = false) {
    this.#table = table;
    this.#clean = clean;
    this.#withBodies = withBodies;
  }

  /**
   * Reads rows, as a rule without their bodies, in the order of their numbers: two transactions never wait for each other.
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
    const fields = columnsOf(this.#table, !this.#withBodies);
    const locked = `SELECT ${fields} FROM ${name} WHERE ${condition} ORDER BY seq FOR UPDATE`;
    const both = `WITH locked AS (${locked})
      SELECT * FROM locked FULL JOIN (${beside}) AS beside ON false ORDER BY locked.seq`;
    const rows = await query(beside === undefined ? locked : both, values);
    const isOwn = (row: (typeof rows)[number]): boolean => row['seq'] !== null;
    for (const row of rows.filter(isOwn)) this.#set(this.#table.record(row));
    return rows.filter((row) => !isOwn(row));
  }

  get all(): readonly Record[] {
    return [...this.#rows.values()];
  }

  find(id: string): Record | undefined {
    return this.#rows.get(id);
  }

  bodyOf({ body }: Record): string | undefined {
    return body;
  }

  add(record: Omit<Record, 'seq'>): Record | undefined {
    const known = this.#rows.get(String(Reflect.get(record, this.#table.idField)));
    if (known !== undefined) return known;
    const clean = cleanTexts(this.#table.kind, record, this.#clean) as Record; // the database gives it its number
    this.#added.add(this.#set(clean));
    return undefined;
  }

  change(row: Record, fields: FieldChanges<Record>): void {
    const clean = cleanTexts(this.#table.kind, fields, this.#clean);
    const id = this.#set(Object.assign({}, row, clean));
    if (!this.#added.has(id)) this.#changed.set(id, this.#changed.get(id) || 'body' in fields);
  }

  /** Writes all that is new or changed. */
  flush(writes: JoinedWrites): void {
    const of = (id: string) => this.#rows.get(id) ?? {}; // it is there
    insertAll(writes, this.#table, [...this.#added].map(of));
    updateAll(
      writes,
      this.#table,
      [...this.#changed].map(([id, hasBody]) => [of(id), hasBody]),
    );
  }

  #set(record: Record): string {
    const id = String(record[this.#table.idField]);
    this.#rows.set(id, record);
    return id;
  }
}
