import type { KeptValue, KeyValueReader, KeyValues } from '../../../extension/index.js';
import { bytesOf, fits } from '../../../extension/internal.js';
import type { PostgresConnections, PostgresQuery, PostgresRow } from './connections.js';
import type { PostgresBatches } from './postgres-batches.js';

/** Values that have expired and that each write drops, so that no more of them pile up than are written. */
const dropsPerWrite = 4;

const fields = 'key, body, version, expires_at_ms';

/** Reads key values. @param now the time of day, by which values expire. */
export function postgresValueReader(
  { query }: PostgresConnections,
  now: () => number,
): KeyValueReader {
  const alive = '(expires_at_ms IS NULL OR expires_at_ms > $3)';
  return {
    get: async (namespace, key) => {
      const [row] = await query(
        `SELECT ${fields} FROM sluice_key_values WHERE namespace = $1 AND key = $2 AND ${alive}`,
        [namespace, key, now()],
      );
      return row === undefined ? undefined : keptOf(row);
    },
    list: async (namespace, { prefix, after = '', limit }) => {
      const rows = await query(
        `SELECT ${fields} FROM sluice_key_values WHERE namespace = $1 AND key >= $2 AND ${alive}
          AND key > $4 AND starts_with(key, $2) ORDER BY key LIMIT $5`,
        [namespace, prefix, now(), after, Math.min(limit, Number.MAX_SAFE_INTEGER)],
      );
      return rows.map(keptOf);
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

/** Opens key values. Several processes may write them: each write holds its namespace, and looks first. */
export function postgresKeyValues(
  connections: PostgresConnections,
  batches: PostgresBatches,
  now: () => number,
): KeyValues {
  return {
    ...postgresValueReader(connections, now),
    write: (namespace, key, value, { expected, quota }) =>
      batches.write(async ({ query }) => {
        const nowMs = now();
        await dropExpired(query, nowMs, dropsPerWrite);
        let size = await hold(query, namespace);
        const [was] = await query(
          `SELECT version, bytes, expires_at_ms <= $3 AS is_gone FROM sluice_key_values
            WHERE namespace = $1 AND key = $2`,
          [namespace, key, nowMs],
        );
        const version = was === undefined || was['is_gone'] === true ? null : versionOf(was);
        if (expected !== undefined && expected !== version) return { status: 'conflict' };
        if (value === undefined) {
          await drop(query, 'namespace = $1 AND key = $2', [namespace, key]);
          return { status: 'written' };
        }
        const bytes = bytesOf({ key, body: value.body });
        const after = () => ({
          keys: size.keys + (was === undefined ? 1 : 0),
          bytes: size.bytes + bytes - Number(was?.['bytes'] ?? 0),
        });
        if (!fits(after(), quota)) {
          const ofOthers = 'namespace = $1 AND key <> $2 AND expires_at_ms <= $3';
          await drop(query, ofOthers, [namespace, key, nowMs]);
          size = await hold(query, namespace);
          if (!fits(after(), quota)) return { status: 'full', ...after() };
        }
        await query(
          `INSERT INTO sluice_key_values (namespace, key, body, expires_at_ms, bytes)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (namespace, key) DO UPDATE
            SET body = $3, expires_at_ms = $4, bytes = $5, version = DEFAULT`,
          [namespace, key, value.body, value.expiresAtMs ?? null, bytes],
        );
        await grow(query, namespace, was === undefined ? 1 : 0, after().bytes - size.bytes);
        return { status: 'written' };
      }),
    clear: (namespace) =>
      batches.write(async ({ query }) => {
        await hold(query, namespace);
        return drop(query, 'namespace = $1', [namespace]);
      }),
  };
}

/** Drops some values that have expired, those first that expired first. @returns how many. */
export function dropExpired(query: PostgresQuery, nowMs: number, most: number): Promise<number> {
  const first = `SELECT namespace, key FROM sluice_key_values WHERE expires_at_ms <= $1
    ORDER BY expires_at_ms LIMIT ${most} FOR UPDATE SKIP LOCKED`;
  return drop(query, `(namespace, key) IN (${first})`, [nowMs]);
}

/** Keeps other writers from a namespace until the transaction ends. @returns its size. */
async function hold(query: PostgresQuery, namespace: string) {
  const [size] = await query(
    `INSERT INTO sluice_key_value_sizes AS sizes VALUES ($1, 0, 0)
      ON CONFLICT (namespace) DO UPDATE SET keys = sizes.keys RETURNING keys, bytes`,
    [namespace],
  );
  return { keys: Number(size?.['keys']), bytes: Number(size?.['bytes']) };
}

async function grow(query: PostgresQuery, namespace: string, keys: number, bytes: number) {
  await query(
    'UPDATE sluice_key_value_sizes SET keys = keys + $2, bytes = bytes + $3 WHERE namespace = $1',
    [namespace, keys, bytes],
  );
}

/** Drops values, and counts them out of their namespaces. @returns how many. */
async function drop(
  query: PostgresQuery,
  condition: string,
  values: readonly (string | number)[],
): Promise<number> {
  const gone = await query(
    `WITH gone AS (DELETE FROM sluice_key_values WHERE ${condition} RETURNING namespace, bytes),
      sums AS (SELECT namespace, count(*) AS keys, sum(bytes) AS bytes FROM gone GROUP BY namespace)
      UPDATE sluice_key_value_sizes AS sizes SET keys = sizes.keys - sums.keys, bytes = sizes.bytes - sums.bytes
      FROM sums WHERE sizes.namespace = sums.namespace RETURNING sums.keys AS keys`,
    values,
  );
  return gone.reduce((all, { keys }) => all + Number(keys), 0);
}

function versionOf({ version }: PostgresRow): string {
  return String(version);
}

function keptOf(row: PostgresRow): KeptValue {
  const { key, body, expires_at_ms: expiresAtMs } = row;
  return {
    ...{ key: String(key), body: String(body), version: versionOf(row) },
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
  };
}
