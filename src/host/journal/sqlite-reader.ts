import type { SqliteDatabase, SqliteStatement } from '../sqlite/open-sqlite.js';
import type { SqliteValue } from '../sqlite/sqlite-values.js';
import {
  type DispatchFilter,
  type DispatchRecord,
  defaultLimit,
  type JournalReader,
  type SendFilter,
  type SendRecord,
  type UpdateFilter,
  type UpdateRecord,
} from './journal.js';
import { openJournalFile } from './journal-file.js';
import {
  dispatchesTable,
  type JournalTable,
  type RowFilter,
  sendsTable,
  updatesTable,
} from './journal-rows.js';

/** Reads the tables of an open journal. Statements are compiled once for each shape of filter. */
export class SqliteReader implements JournalReader {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async updates(filter: UpdateFilter = {}): Promise<readonly UpdateRecord[]> {
    return this.#rows(updatesTable, filter);
  }

  async sends(filter: SendFilter = {}): Promise<readonly SendRecord[]> {
    return this.#rows(sendsTable, filter);
  }

  async dispatches(filter: DispatchFilter = {}): Promise<readonly DispatchRecord[]> {
    return this.#rows(dispatchesTable, filter);
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #rows<Row>(table: JournalTable<Row>, filter: RowFilter): Row[] {
    const { eventId, correlationId, sinceMs, afterSeq, family, states, limit } = filter;
    const conditions: string[] = [];
    const values: SqliteValue[] = [];
    const where = (condition: string, ...bound: readonly SqliteValue[]): void => {
      conditions.push(condition);
      values.push(...bound);
    };
    if (eventId !== undefined) where(`${table.idColumn} = ?`, eventId);
    if (correlationId !== undefined) where(`${table.correlationColumn} = ?`, correlationId);
    if (sinceMs !== undefined) where(`${table.timeColumn} >= ?`, sinceMs);
    if (afterSeq !== undefined) where('seq > ?', afterSeq);
    if (family !== undefined) where('family = ?', family);
    if (states !== undefined) where(`state IN (${states.map(() => '?').join(', ')})`, ...states);
    const all = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const sql = `SELECT * FROM ${table.name} ${all} ORDER BY seq LIMIT ?`;
    return this.#statement(sql)
      .all(...values, Math.max(0, Math.trunc(limit ?? defaultLimit)))
      .map(table.record);
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Opens a journal to read it; a host may be using it meanwhile.
 *
 * @throws SluiceError (as a rejection) `not-a-journal`, or what `openSqlite` throws.
 * @example
 * const reader = await readJournal('./sluice.db');
 * for (const { family, body } of await reader.dispatches({ eventId })) print(family, JSON.parse(body));
 * await reader.close();
 */
export async function readJournal(path: string): Promise<JournalReader> {
  return new SqliteReader(openJournalFile(path, { readonly: true }));
}
