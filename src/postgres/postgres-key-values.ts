import type { KeptValue, KeyValueReader, KeyValues, WriteResult } from '@sluice/sdk/extension';
import type { PostgresBatches } from './postgres-batches.js';
import type { PostgresConnections, PostgresRow } from './rows/connections.js';
import type { SharedTransaction } from './rows/postgres-rows.js';
import { drop, holdNamespaces } from './rows/working-values.js';

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
      return row === undefined ? undefined : keyValueOf(row);
    },
    list: async (namespace, { prefix, after = '', limit }) => {
      const rows = await query(
        `SELECT ${fields} FROM sluice_key_values WHERE namespace = $1 AND key >= $2 AND ${alive}
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

/** Opens key values. Several processes may write them: each write holds its namespace or its value, and looks first. */
export function postgresKeyValues(
  connections: PostgresConnections,
  batches: PostgresBatches,
  now: () => number,
): KeyValues {
  return {
    ...postgresValueReader(connections, now),
    write: (namespace, key, value, given) => {
      const { expected, quota, mayWait } = given;
      const hasBody = expected !== null && typeof expected === 'object';
      const change = ({ values }: SharedTransaction): Promise<WriteResult> =>
        values.change(namespace, key, value, given);
      const needs = { value: { namespace, key, isCounted: quota !== undefined, hasBody } };
      return mayWait === true ? batches.later(change, needs) : batches.write(change, needs);
    },
    clear: (namespace) =>
      batches.write(
        async ({ query }) => {
          await holdNamespaces(query, [namespace]);
          return drop(query, 'namespace = $1', [namespace]);
        },
        { isAlone: true },
      ),
  };
}

function keyValueOf(row: PostgresRow): KeptValue {
  const { key, body, version, expires_at_ms: expiresAtMs } = row;
  return {
    ...{ key: String(key), body: String(body), version: String(version) },
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
  };
}
