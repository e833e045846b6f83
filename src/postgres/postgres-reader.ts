import type { DispatchFilter, JournalReader } from '@sluice/journal';
import {
  type Condition,
  conditionsOf,
  countRows,
  defaultLimit,
  entryKinds,
  type JournalHost,
  type RowFilter,
  type SessionReader,
  storedEntry,
} from '@sluice/journal/internal';
import type { KeptValue, KeyValueReader } from '@sluice/sdk/extension';
import { withFailures } from './postgres-failure.js';
import { checkPostgresSchema } from './postgres-schema.js';
import type { PostgresConnections, PostgresRow, PostgresValue } from './rows/connections.js';
import {
  columnsOf,
  dispatchesTable,
  type PostgresTable,
  partitionOfRow,
  sendsTable,
  updatesTable,
} from './rows/postgres-tables.js';
import { lastOf } from './rows/working-sessions.js';

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
    dispatches: (filter = {}) => read(dispatchesTable, { kinds: ['dispatch'], ...filter }),
    counts: () => countRows('sluice_', query),
  };

  async function read<Record>(
    table: PostgresTable<Record>,
    filter: RowFilter & Pick<DispatchFilter, 'kinds'>,
  ): Promise<readonly Record[]> {
    const { parts, kinds, limit = defaultLimit, withoutBody = false } = filter;
    const conditions: Condition<PostgresValue | readonly PostgresValue[]>[] = [
      ['true'],
      ...conditionsOf(table, filter),
    ];
    if (parts !== undefined) conditions.push([`${partitionOfRow} = ANY(?)`, parts]);
    if (kinds !== undefined) conditions.push([`${kindOfRow} = ANY(?)`, kinds]);
    let at = 0;
    const where = conditions.map(([sql]) => sql.replaceAll('?', () => `$${++at}`)).join(' AND ');
    const rows = await query(
      `SELECT ${columnsOf(table, withoutBody)} FROM ${table.name}
        WHERE ${where} ORDER BY seq LIMIT ${Math.max(0, Math.trunc(limit))}`,
      conditions.flatMap(([, ...values]) => values),
    );
    return rows.map(table.record);
  }
}

const valueFields = 'key, body, version, expires_at_ms';

/** Reads key values. @param now the time of day, by which values expire. */
export function postgresValues({ query }: PostgresConnections, now: () => number): KeyValueReader {
  const alive = '(expires_at_ms IS NULL OR expires_at_ms > $3)';
  return {
    get: async (namespace, key) => {
      const [row] = await query(
        `SELECT ${valueFields} FROM sluice_key_values WHERE namespace = $1 AND key = $2 AND ${alive}`,
        [namespace, key, now()],
      );
      return row && keyValueOf(row);
    },
    list: async (namespace, { prefix, after = '', limit }) => {
      const rows = await query(
        `SELECT ${valueFields} FROM sluice_key_values WHERE namespace = $1 AND key >= $2 AND ${alive}
          AND key > $4 AND starts_with(key, $2) ORDER BY key LIMIT $5`,
        [namespace, prefix, now(), after, Math.min(limit, Number.MAX_SAFE_INTEGER)],
      );
      return rows.map(keyValueOf);
    },
    namespaces: async () => {
      const rows = await query(
        'SELECT namespace, keys, bytes FROM sluice_key_value_sizes WHERE keys > 0 ORDER BY namespace',
      );
      return rows.map(({ namespace, keys, bytes }) => ({
        ...{ namespace: String(namespace), keys: Number(keys), bytes: Number(bytes) },
      }));
    },
  };
}

function keyValueOf({ key, body, version, expires_at_ms: expiresAtMs }: PostgresRow): KeptValue {
  return {
    ...{ key: String(key), body: String(body), version: String(version) },
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
  };
}

/** Reads sessions and transcripts. */
export function postgresSessions({ query }: PostgresConnections): SessionReader {
  return {
    session: async (sessionKey) => {
      const sql = 'SELECT body FROM sluice_sessions WHERE session_key = $1';
      const [row] = await query(sql, [sessionKey]);
      return row && String(row['body']);
    },
    transcript: async (sessionId, part) => {
      const sql = 'SELECT body FROM sluice_transcripts WHERE session_id = $1 ORDER BY seq';
      const rows =
        part === undefined
          ? await query(sql, [sessionId])
          : await query(`${sql} DESC LIMIT $2 OFFSET $3`, [sessionId, part.last, part.skip ?? 0]);
      const entries = rows.map(({ body }) => storedEntry(String(body)));
      return part === undefined ? entries : entries.reverse();
    },
    size: async (sessionId) => {
      const [last] = await query(lastOf('$1'), [sessionId]);
      return { messages: Number(last?.['messages'] ?? 0), prompts: Number(last?.['prompts'] ?? 0) };
    },
  };
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
        coalesce(string_agg(own.part::text, ',' ORDER BY own.part), '') AS parts
      FROM sluice_hosts AS host LEFT JOIN sluice_parts AS own ON own.host_id = host.host_id
      LEFT JOIN waiting ON waiting.part = own.part GROUP BY host.host_id ORDER BY since`,
  );
  return rows.map((row) => ({
    hostId: String(row['host_id']),
    sinceMs: Number(row['since_ms']),
    leaseForMs: Math.round(Number(row['lease_for_ms'])),
    parts: String(row['parts']).split(',').filter(Boolean).map(Number),
    waiting: Number(row['waiting']),
    oldestWaitingMs: Math.round(Number(row['oldest_for_ms'])),
    about: Object.fromEntries(
      Object.entries(Object(JSON.parse(String(row['about'])))).map(([part, of]) => [
        part,
        String(of),
      ]),
    ),
  }));
}
