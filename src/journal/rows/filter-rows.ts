import type { SqliteValue } from '../database/sqlite-values.js';
import { isOneOf, type JournalFilter, openUpdates } from '../journal.js';
import type { FilteredColumns } from './journal-rows.js';
import { isNotEnded, isOpenUpdate } from './journal-schema.js';

/** The conditions that a reader may set for a table. */
export type RowFilter = JournalFilter & {
  readonly states?: readonly string[];
  readonly family?: string;
  readonly lane?: string;
  readonly parts?: readonly number[];
  readonly withoutBody?: boolean;
};

/** A condition of SQL, with a question mark for each of its values. */
export type Condition<Value = SqliteValue> = readonly [sql: string, ...values: readonly Value[]];

/** Turns a filter into conditions, all of which must hold: the same for each database. */
export function conditionsOf(
  table: FilteredColumns & { readonly name: string },
  filter: RowFilter,
): Condition[] {
  const { eventId, correlationId, sinceMs, afterSeq, withinLast, family, lane, states } = filter;
  const compared: readonly (readonly [sql: string, value: SqliteValue | undefined])[] = [
    [`${table.idColumn} = ?`, eventId],
    [`${table.correlationColumn} = ?`, correlationId],
    [`${table.timeColumn} >= ?`, sinceMs],
    ['seq > ?', afterSeq],
    [`seq > (SELECT max(seq) FROM ${table.name}) - ?`, withinLast],
    ['family = ?', family],
    ['lane = ?', lane],
  ];
  const all = compared.flatMap(([sql, value]): Condition[] =>
    value === undefined ? [] : [[sql, value]],
  );
  if (states === undefined) return all;
  all.push([`state IN (${states.map(() => '?').join(', ') || 'NULL'})`, ...states]);
  // in the words of an index, or the database does not use the index
  const isOfUpdates = table.timeColumn === 'accepted_at_ms';
  if (isOfUpdates && !states.includes('ended')) all.push([isNotEnded]);
  if (isOfUpdates && states.every((state) => isOneOf(openUpdates, state))) all.push([isOpenUpdate]);
  return all;
}
