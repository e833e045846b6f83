import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeptValue, KeyValueReader, KeyValues } from '@sluice/sdk/extension';
import { isAsExpected } from '@sluice/sdk/extension/internal';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { type KeyValueRows, keyValueRows } from '../rows/key-value-rows.js';

/** Values that are read at once: other work has its turn between two such readings. */
const page = 500;

/** Values that have expired and that each write drops, so that no more of them pile up than are written. */
const dropsPerWrite = 4;

/**
 * Opens the key values in the table of a journal. Several processes may write them: each write looks first, in its transaction.
 *
 * @param now gives the time of day, by which values expire.
 * @param write runs a write in a transaction, which is on the disk when it resolves.
 */
export function sqliteKeyValues(
  database: SqliteDatabase,
  now: () => number,
  write: <T>(work: () => T) => Promise<T>,
): KeyValues {
  const rows = keyValueRows(database);
  return {
    ...keyValueReader(rows, now),
    write: (namespace, key, value, { expected, quota, signal }) =>
      write(() => {
        signal?.throwIfAborted();
        const nowMs = now();
        rows.dropExpired(nowMs, dropsPerWrite);
        if (expected !== undefined && !isAsExpected(rows.get(namespace, key, nowMs), expected))
          return { status: 'conflict' };
        const size = rows.write({ namespace, key, nowMs }, value, quota);
        return size === undefined ? { status: 'written' } : { status: 'full', ...size };
      }),
    clear: (namespace) => write(() => rows.clear(namespace)),
  };
}

/** Reads key values in the rows of a journal. */
export function keyValueReader(rows: KeyValueRows, now: () => number): KeyValueReader {
  return {
    get: async (namespace, key) => rows.get(namespace, key, now()),
    list: async (namespace, { prefix, after = '', limit }) => {
      const nowMs = now();
      const found: KeptValue[] = [];
      const most = Math.min(page, limit);
      for (let last = after; ; ) {
        const read = rows.page(namespace, prefix, last, most);
        for (const value of read) {
          if (found.length >= limit || !value.key.startsWith(prefix)) return found;
          if (!(Number(value.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs)) found.push(value);
        }
        if (read.length < most || most === 0) return found;
        last = read.at(-1)?.key ?? last;
        await nextTurn();
      }
    },
    namespaces: async () => rows.namespaces(),
  };
}
