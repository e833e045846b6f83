import type { KeptValue, KeyValueQuota, NewValue } from '@sluice/sdk/extension';
import { bytesOf, fits } from '@sluice/sdk/extension/internal';
import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import { keyValuesTable } from './journal-rows.js';
import { type HowRead, tableRows } from './table-rows.js';

/** The keys of a namespace, and their bytes with those of their values. */
export interface NamespaceSize {
  readonly keys: number;
  readonly bytes: number;
}

/** The namespace in which the sizes of the others are persisted, each under the name of its namespace. */
const sizes = '';

/** The rows of key values. Each change is within a transaction of the caller, and keeps the size of its namespace. */
export interface KeyValueRows {
  /** The value of a key that has not expired. */
  get(namespace: string, key: string, nowMs: number): KeptValue | undefined;
  /** Writes a value, or deletes it. @returns the size that would be too large; then nothing is written. */
  write(
    at: { readonly namespace: string; readonly key: string; readonly nowMs: number },
    value: NewValue | undefined,
    quota: KeyValueQuota | undefined,
  ): NamespaceSize | undefined;
  /** A page of the values of a namespace, also such as have expired. */
  page(namespace: string, from: string, after: string, limit: number): KeptValue[];
  /** The sizes of all namespaces that hold something. */
  namespaces(): readonly (NamespaceSize & { readonly namespace: string })[];
  /** Deletes all of a namespace. @returns how many values that were. */
  clear(namespace: string): number;
  /** Counts each namespace anew, after rows were lost. */
  recount(): void;
  /** Drops some values that have expired, those first that expired first. @returns how many. */
  dropExpired(nowMs: number, most: number): number;
}

/** Opens the rows of key values. */
export function keyValueRows(
  database: SqliteDatabase,
  onDamaged?: HowRead['onDamaged'],
): KeyValueRows {
  const rows = tableRows(database, keyValuesTable); // no secret is taken out: these data are their owner's
  const { name } = keyValuesTable;
  const lastNumber = database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?');
  const remove = database.prepare(`DELETE FROM ${name} WHERE seq = ?`);
  const count = database.prepare(
    `SELECT count(*) AS keys, coalesce(sum(bytes), 0) AS bytes FROM ${name} WHERE namespace = ?`,
  );
  const dropNamespace = database.prepare(`DELETE FROM ${name} WHERE namespace = ?`);
  const dropExpiredOf = database.prepare(
    `DELETE FROM ${name} WHERE namespace = ? AND expires_at_ms <= ?`,
  );

  const head = (namespace: string, key: string): SqliteRow | undefined =>
    rows.find('namespace = ? AND key = ?', namespace, key);
  const whole = (namespace: string, key: string): SqliteRow | undefined =>
    rows.read('namespace = ? AND key = ?', [namespace, key], { onDamaged })[0];
  const put = (was: SqliteRow | undefined, namespace: string, key: string, value: NewValue) => {
    const { body, expiresAtMs } = value;
    const version = Number(was?.['version'] ?? 0) + 1;
    const given = { namespace, key, version, expiresAtMs, bytes: bytesOf({ key, body }), body };
    // another process may have written the last row, so its number is read each time
    const seq = Number(lastNumber.get(name)?.['seq'] ?? 0) + 1;
    if (was === undefined) rows.add(keyValuesTable.row({ ...given, seq }));
    else rows.change(was, keyValuesTable.row(given));
  };
  const counted = (namespace: string): NamespaceSize => {
    const row = count.get(namespace);
    return { keys: Number(row?.['keys']), bytes: Number(row?.['bytes']) };
  };
  const sizeOf = (namespace: string): NamespaceSize => {
    const persisted = whole(sizes, namespace)?.['body'];
    return typeof persisted === 'string'
      ? (JSON.parse(persisted) as NamespaceSize)
      : counted(namespace); // as it was persisted
  };
  const keepSize = (namespace: string, size: NamespaceSize): void => {
    const was = head(sizes, namespace);
    if (size.keys > 0) put(was, sizes, namespace, { body: JSON.stringify(size) });
    else if (was !== undefined) remove.run(was['seq'] ?? null);
  };
  const dropRow = (row: SqliteRow): void => {
    const namespace = String(row['namespace']);
    const { keys, bytes } = sizeOf(namespace);
    remove.run(row['seq'] ?? null);
    keepSize(namespace, { keys: keys - 1, bytes: bytes - Number(row['bytes']) });
  };

  return {
    get: (namespace, key, nowMs) => {
      const row = whole(namespace, key);
      return row === undefined || hasExpired(row, nowMs) ? undefined : keyValueOf(row);
    },
    write: ({ namespace, key, nowMs }, value, quota) => {
      const was = head(namespace, key);
      if (value === undefined) {
        if (was !== undefined) dropRow(was);
        return undefined;
      }
      const bytes = bytesOf({ key, body: value.body });
      const sizeAfter = ({ keys, bytes: before }: NamespaceSize): NamespaceSize => ({
        keys: keys + (was === undefined ? 1 : 0),
        bytes: before + bytes - Number(was?.['bytes'] ?? 0),
      });
      let size = sizeAfter(sizeOf(namespace));
      if (!fits(size, quota)) {
        dropExpiredOf.run(namespace, nowMs);
        const left = counted(namespace);
        const isLeft = was !== undefined && !hasExpired(was, nowMs);
        size = isLeft ? sizeAfter(left) : { keys: left.keys + 1, bytes: left.bytes + bytes };
        keepSize(namespace, left);
        if (!fits(size, quota)) return size;
        put(isLeft ? was : undefined, namespace, key, value);
      } else put(was, namespace, key, value);
      keepSize(namespace, size);
      return undefined;
    },
    page: (namespace, from, after, limit) =>
      rows
        .read(
          'namespace = ? AND key >= ? AND key > ? ORDER BY key LIMIT ?',
          [namespace, from, after, limit],
          { onDamaged },
        )
        .map(keyValueOf),
    namespaces: () =>
      rows.read('namespace = ? ORDER BY key', [sizes], { onDamaged }).map(({ key, body }) => ({
        ...(JSON.parse(String(body)) as NamespaceSize), // as it was persisted
        namespace: String(key),
      })),
    clear: (namespace) => {
      const { changes } = dropNamespace.run(namespace);
      keepSize(namespace, { keys: 0, bytes: 0 });
      return changes;
    },
    recount: () => {
      dropNamespace.run(sizes);
      for (const { namespace } of database.prepare(`SELECT DISTINCT namespace FROM ${name}`).all())
        keepSize(String(namespace), counted(String(namespace)));
    },
    dropExpired: (nowMs, most) => {
      const expired = rows.read(
        'expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?',
        [nowMs, most],
        { withoutBody: true, onDamaged: () => undefined }, // whoever reads the row hears of the damage
      );
      for (const row of expired) dropRow(row);
      return expired.length;
    },
  };
}

/** Returns whether a row has expired. */
function hasExpired(row: SqliteRow, nowMs: number): boolean {
  const expiresAtMs = row['expires_at_ms'];
  return typeof expiresAtMs === 'number' && expiresAtMs <= nowMs;
}

function keyValueOf(row: SqliteRow): KeptValue {
  const { key, body, seq, version, expires_at_ms: expiresAtMs } = row;
  return {
    key: String(key),
    body: String(body),
    version: `${seq}.${version}`,
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
  };
}
