import type { DispatchFilter, DispatchRecord, JournalReader } from '@sluice/journal';
import type { JournalHost } from '@sluice/journal/internal';
import {
  countRows,
  defaultLimit,
  entryKinds,
  isNotEnded,
  isOneOf,
  isOpenUpdate,
  openUpdates,
  type RowFilter,
} from '@sluice/journal/internal';
import { withFailures } from './postgres-failure.js';
import { checkPostgresSchema } from './postgres-schema.js';
import type { PostgresConnections, PostgresValue } from './rows/connections.js';
import {
  dispatchesTable,
  fieldsOf,
  type PostgresTable,
  partitionOfRow,
  recordOf,
  sendsTable,
  updatesTable,
} from './rows/postgres-tables.js';

/** The kind of a record of the dispatches, as an expression. */
const kindOfRow = `CASE WHEN omitted IN (${entryKinds.map((kind) => `'${kind}'`).join(', ')})
  THEN omitted ELSE 'dispatch' END`;

/** Reads the records of a journal in PostgreSQL. */
export function postgresRecords({
  query,
}: PostgresConnections): Omit<JournalReader, 'keyValues' | 'close'> {
  return {
    updates: (filter = {}) => read(updatesTable, filter),
    sends: (filter = {}) => read(sendsTable, filter),
    dispatches: async (filter = {}) => {
      const records = await read(dispatchesTable, { kinds: ['dispatch'], ...filter });
      return records.map((one): DispatchRecord => ({ ...one, sessionId: one.sessionId ?? null })); // null is a value of this field
    },
    counts: () => countRows('sluice_', query),
  };

  async function read<Record>(
    table: PostgresTable<Record>,
    filter: RowFilter & Pick<DispatchFilter, 'kinds'>,
  ): Promise<readonly Record[]> {
    const { eventId, correlationId, sinceMs, afterSeq, withinLast, limit = defaultLimit } = filter;
    const { family, lane, parts: partitions, states, kinds, withoutBody = false } = filter;
    const values: (PostgresValue | readonly PostgresValue[])[] = [];
    const conditions = ['true'];
    const where = (
      condition: (at: string) => string,
      value: PostgresValue | readonly PostgresValue[] | undefined,
    ): void => {
      if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
    };
    where((at) => `${table.idColumn} = ${at}`, eventId);
    where((at) => `${table.correlationColumn} = ${at}`, correlationId);
    where((at) => `${table.timeColumn} >= ${at}`, sinceMs);
    where((at) => `seq > ${at}`, afterSeq);
    where((at) => `seq > (SELECT max(seq) FROM ${table.name}) - ${at}`, withinLast);
    where((at) => `family = ${at}`, family);
    where((at) => `lane = ${at}`, lane);
    where((at) => `${partitionOfRow} = ANY(${at})`, partitions);
    where((at) => `state = ANY(${at})`, states);
    where((at) => `${kindOfRow} = ANY(${at})`, kinds);
    if (table.kind === 'updates' && states?.includes('ended') === false)
      conditions.push(isNotEnded); // in the words of an index
    if (table.kind === 'updates' && states?.every((state) => isOneOf(openUpdates, state)))
      conditions.push(isOpenUpdate);
    const most = Math.max(0, Math.trunc(limit));
    const rows = await query(
      `SELECT ${fieldsOf(table, withoutBody)} FROM ${table.name}
        WHERE ${conditions.join(' AND ')} ORDER BY seq LIMIT ${most}`,
      values,
    );
    return rows.map((row) => recordOf(table, row));
  }
}

/** Reads the hosts of a journal, the oldest first. @throws SluiceError (as a rejection) `not-a-journal` or `database-...`. */
export async function readPostgresHosts(
  given: PostgresConnections,
): Promise<readonly JournalHost[]> {
  const connections = withFailures(given);
  await checkPostgresSchema(connections);
  const rows = await connections.query(
    `WITH waiting AS (SELECT ${partitionOfRow} AS part, count(*) AS rows, min(accepted_at_ms) AS oldest
        FROM sluice_updates WHERE state = 'accepted' GROUP BY 1)
      SELECT host.host_id, about, coalesce(sum(rows), 0)::float8 AS waiting,
        greatest(0, extract(epoch FROM clock_timestamp())::float8 * 1000 - min(oldest)) AS oldest_for_ms,
        extract(epoch FROM since)::float8 * 1000 AS since_ms,
        extract(epoch FROM lease_until - clock_timestamp())::float8 * 1000 AS lease_for_ms,
        coalesce(json_agg(own.part ORDER BY own.part) FILTER (WHERE own.part IS NOT NULL), '[]')::text AS parts
      FROM sluice_hosts AS host LEFT JOIN sluice_parts AS own ON own.host_id = host.host_id
      LEFT JOIN waiting ON waiting.part = own.part GROUP BY host.host_id ORDER BY since`,
  );
  return rows.map((row) => ({
    hostId: String(row['host_id']),
    sinceMs: Number(row['since_ms']),
    leaseForMs: Math.round(Number(row['lease_for_ms'])),
    parts: JSON.parse(String(row['parts'])) as JournalHost['parts'], // as the statement joins them
    waiting: Number(row['waiting']),
    oldestWaitingMs: Math.round(Number(row['oldest_for_ms'])),
    about: JSON.parse(String(row['about'])) as JournalHost['about'], // as a host announces it
  }));
}
