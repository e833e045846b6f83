import type { KeyValueReader } from '@sluice/sdk/extension';
import { getOrMake, isSluiceError, systemClock } from 'sluice-kernel/internal';
import { atOnce } from '../database/in-turns.js';
import { logDamage } from '../database/log-damage.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { isOfKind } from '../entry-kinds.js';
import { isCheckedWhole, openJournalFile, readerCheckBytes } from '../file/journal-file.js';
import {
  type DispatchFilter,
  type DispatchRecord,
  defaultLimit,
  type JournalReader,
} from '../journal.js';
import { countRows } from '../rows/count-rows.js';
import { conditionsOf, type RowFilter } from '../rows/filter-rows.js';
import {
  dispatchesTable,
  type RecordTable,
  sendsTable,
  updatesTable,
} from '../rows/journal-rows.js';
import { packedMark, unpacked } from '../rows/packed-dispatches.js';
import { rowsPastDamage } from '../rows/read-past-damage.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import { type Damage, goodRows, type TableRows, tableRows } from '../rows/table-rows.js';

/** The fewest and the most rows that are read at once, and the characters of their bodies that are aimed at. */
const fewestRows = 16;
const mostRows = 512;
const charactersAtOnce = 512 * 1024;

/** Reads the records of an open journal, as `sqliteReader` does. */
export function sqliteRecords(
  database: SqliteDatabase,
  onDamaged?: (damage: Damage) => void,
): Omit<JournalReader, 'keyValues' | 'close'> {
  const tables = new Map<string, TableRows>();
  return {
    updates: (filter = {}) => slices(updatesTable, filter),
    sends: (filter = {}) => slices(sendsTable, filter),
    dispatches,
    counts: () => countRows('', async (sql) => database.prepare(sql).all()),
  };

  /** One dispatch is looked for where its id says that it may be, and then everywhere. */
  async function dispatches(filter: DispatchFilter = {}): Promise<readonly DispatchRecord[]> {
    const isOf = (row: DispatchRecord): readonly DispatchRecord[] => {
      const each = String(row.omitted) === packedMark ? unpackedOrTold(row) : [row];
      return each.filter((one) => isWanted(one, filter));
    };
    const { eventId, ...others } = filter;
    if (eventId === undefined) return slices(dispatchesTable, filter, isOf);
    const near = await slices(dispatchesTable, filter, isOf);
    return near.length > 0 ? near : slices(dispatchesTable, others, isOf);
  }

  function unpackedOrTold(row: DispatchRecord): readonly DispatchRecord[] {
    try {
      return unpacked(row);
    } catch (error) {
      if (onDamaged === undefined || !isSluiceError(error)) throw error;
      const problem = String(error.details['problem']);
      onDamaged({ table: dispatchesTable.name, problem });
      return [];
    }
  }

  async function slices<Row extends { readonly seq: number }>(
    table: RecordTable<Row>,
    filter: RowFilter,
    recordsOf: (row: Row) => readonly Row[] = (row) => [row],
  ): Promise<Row[]> {
    const most = Math.max(0, Math.trunc(filter.limit ?? defaultLimit));
    const all: Row[] = [];
    let { afterSeq = 0 } = filter;
    for (let slice = fewestRows; all.length < most; ) {
      const limit = Math.min(slice, most - all.length);
      let read = 0;
      let characters = 0;
      const sawRow = (seq: unknown): void => {
        read++;
        afterSeq = Math.max(afterSeq, Number(seq));
      };
      for (const row of readRows(table, { ...filter, afterSeq, limit }, sawRow)) {
        sawRow(row.seq);
        characters += lengthOf(row);
        all.push(...recordsOf(row));
      }
      if (read < limit) break;
      slice = Math.min(
        mostRows,
        Math.max(fewestRows, Math.floor((slice * charactersAtOnce) / characters)),
      );
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return all.slice(0, most);
  }

  function readRows<Row>(
    table: RecordTable<Row>,
    filter: RowFilter,
    sawDamaged: (seq: unknown) => void,
  ): Row[] {
    const { eventId, family, ...others } = filter;
    const { limit = defaultLimit, withoutBody = false } = filter;
    const mayBePacked = table.name === dispatchesTable.name;
    const conditions = conditionsOf(table, mayBePacked ? others : filter);
    if (eventId !== undefined && mayBePacked)
      conditions.push([
        `seq IN (SELECT seq FROM dispatches WHERE event_id BETWEEN ? AND ?
          UNION SELECT seq FROM dispatches WHERE correlation_id IN (?, ?))`,
        ...[earliestWith(eventId), eventId, eventId, eventId.replace(/\.[^.]*$/, '')],
      ]);
    if (family !== undefined && mayBePacked)
      conditions.push([`(family = ? OR omitted = '${packedMark}')`, family]);
    const condition = conditions.map(([sql]) => sql).join(' AND ') || 'true';
    const values = conditions.flatMap(([, ...given]) => given);
    const report =
      onDamaged &&
      ((one: Damage): void => {
        if (one.row !== undefined) sawDamaged(one.row['seq']);
        onDamaged(one);
      });
    const most = Math.max(0, Math.trunc(limit));
    try {
      return getOrMake(tables, table.name, () => tableRows(database, table))
        .read(`${condition} ORDER BY seq LIMIT ?`, [...values, most], {
          onDamaged: report,
          withoutBody,
        })
        .map(table.record);
    } catch (error) {
      if (report === undefined || !isSluiceError(error, 'database-damaged')) throw error;
      const { rows, problem } = atOnce(rowsPastDamage(database, table, condition, values));
      if (problem !== undefined)
        report({ table: table.name, problem: `${table.name} cannot be read whole: ${problem}` });
      return goodRows(table, rows, report).slice(0, most).map(table.record);
    }
  }
}

/**
 * Reads the tables of an open journal. A damaged row is told to `onDamaged` and left out; without a listener it is
 * an error.
 */
function sqliteReader(
  database: SqliteDatabase,
  onDamaged?: (damage: Damage) => void,
): JournalReader & AsyncDisposable {
  const close = async (): Promise<void> => database.close();
  const now = () => systemClock.now();
  let keyValues: KeyValueReader | undefined;
  return {
    ...sqliteRecords(database, onDamaged),
    get keyValues() {
      return (keyValues ??= new SqliteKeyValues(database, now, onDamaged)); // a damaged journal may have no such table
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Compares one dispatch with the conditions that a row with several may fit as a whole. */
function isWanted(record: DispatchRecord, filter: DispatchFilter): boolean {
  const { eventId, family, occurredAtMs, seq } = record;
  const { sinceMs = Number.NEGATIVE_INFINITY, afterSeq = 0 } = filter;
  const isIt = (filter.eventId ?? eventId) === eventId && (filter.family ?? family) === family;
  return isIt && isOfKind(record, filter) && occurredAtMs >= sinceMs && seq > afterSeq;
}

/** Milliseconds between the first dispatch of a row and the last, as a rule. */
const rowMs = 60_000;

/** The lowest id that a row with this dispatch may have: an id of the kernel begins with its time, in nine digits to base 36. */
function earliestWith(eventId: string): string {
  const [, digits] = /^([0-9a-z]{9})-/.exec(eventId) ?? [];
  if (digits === undefined) return eventId;
  return Math.max(0, Number.parseInt(digits, 36) - rowMs)
    .toString(36)
    .padStart(9, '0');
}

function lengthOf(row: object): number {
  return 200 + ('body' in row && typeof row.body === 'string' ? row.body.length : 0);
}

/** The options of reading a journal. */
export interface ReadOptions {
  /** Is told of each damage, which is then read past. Without it damage is an error. */
  readonly onDamaged?: (damage: Damage) => void;
}

/**
 * Opens a journal to read it; a host may be using it meanwhile.
 *
 * @throws SluiceError (as a rejection) `not-a-journal`, or as `openSqlite`.
 * @example
 * const reader = await readJournal('./sluice.db');
 * for (const { family, body } of await reader.dispatches({ eventId })) print(family, JSON.parse(body));
 * await reader.close();
 */
export async function readJournal(
  path: string,
  { onDamaged }: ReadOptions = {},
): Promise<JournalReader & AsyncDisposable> {
  const how = { readonly: true, wholeCheckBytes: readerCheckBytes };
  if (onDamaged === undefined) return sqliteReader(openJournalFile(path, how));
  const inLog = logDamage(path);
  if (inLog !== undefined) onDamaged({ problem: inLog });
  const database = openJournalFile(path, { ...how, isDamageExpected: true });
  try {
    if (isCheckedWhole(path, readerCheckBytes)) database.check();
  } catch (error) {
    if (!isSluiceError(error, 'database-damaged')) throw error;
    onDamaged({ problem: String(error.details['problem']) });
  }
  return sqliteReader(database, onDamaged);
}
