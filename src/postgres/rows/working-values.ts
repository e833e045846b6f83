import type { NeededValue, ValueChanges } from '@sluice/journal/internal';
import type { NewValue, WriteResult } from '@sluice/sdk/extension';
import { bytesOf, fits, isAsExpected } from '@sluice/sdk/extension/internal';
import { getOrMake } from 'sluice-kernel/internal';
import type { PostgresQuery } from './connections.js';
import type { JoinedWrites } from './postgres-tables.js';

interface Working extends NeededValue {
  readonly wasThere: boolean;
  version: string | null;
  /** Its body, if one is expected or was written. */
  body: string;
  bytes: number;
  /** Its new value; null deletes it. */
  next?: NewValue | null;
}

interface Size {
  keys: number;
  bytes: number;
}

/** Values that have expired and that each write drops, so that no more of them pile up than are written. */
const dropsPerWrite = 4;

/**
 * The values that the writes of one transaction look at: locked and read first, changed in memory, and written together, for the reason that
 * `WorkingRows` has. A value that was written here has a version that nobody expects, until the database gives it one. Two
 * transactions that make one value of a namespace that is not counted do not see each other: the later one fails with
 * `database-constraint`, and is tried again.
 */
export class WorkingValues implements ValueChanges {
  readonly #query: PostgresQuery;
  readonly #nowMs: number;
  readonly #values = new Map<string, Working>();
  /** The sizes of namespaces as they were, and what was added since. */
  readonly #sizes = new Map<string, { was: Size; readonly added: Size }>();

  constructor(query: PostgresQuery, nowMs: number) {
    this.#query = query;
    this.#nowMs = nowMs;
  }

  async load(needed: readonly NeededValue[]): Promise<void> {
    if (needed.length === 0) return;
    const counted = needed.filter(({ isCounted }) => isCounted);
    if (counted.length > 0)
      await dropExpired(this.#query, this.#nowMs, dropsPerWrite * counted.length);
    await this.#hold([...new Set(counted.map(({ namespace }) => namespace))]);
    const withBody = new Set(needed.filter(({ hasBody }) => hasBody).map(idOf));
    const rows = await this.#query(
      `SELECT kept.namespace, kept.key, version::text, bytes, expires_at_ms <= $3 AS is_gone,
          CASE WHEN has_body THEN body END AS body
        FROM sluice_key_values AS kept JOIN unnest($1::text[], $2::text[], $4::bool[]) AS given (namespace, key, has_body)
        USING (namespace, key) ORDER BY 1, 2 FOR UPDATE OF kept`,
      [
        ...[needed.map((one) => one.namespace), needed.map((one) => one.key), this.#nowMs],
        needed.map((one) => withBody.has(idOf(one))),
      ],
    );
    const found = new Map(rows.map((row) => [idOf(row), row]));
    for (const one of needed) {
      const row = found.get(idOf(one));
      const version = row === undefined || row['is_gone'] === true ? null : String(row['version']);
      const was = { wasThere: row !== undefined, version, bytes: Number(row?.['bytes'] ?? 0) };
      this.#values.set(idOf(one), { ...one, ...was, body: String(row?.['body']) });
    }
  }

  /** Keeps other writers from namespaces until the transaction ends, and reads their sizes. */
  async #hold(namespaces: readonly string[]): Promise<void> {
    if (namespaces.length === 0) return;
    const sizes = await holdNamespaces(this.#query, namespaces);
    for (const { namespace, keys, bytes } of sizes) {
      const size = getOrMake(this.#sizes, String(namespace), () => ({
        ...{ was: { keys: 0, bytes: 0 }, added: { keys: 0, bytes: 0 } },
      }));
      size.was = { keys: Number(keys), bytes: Number(bytes) };
    }
  }

  async write(
    ...[namespace, key, value, { expected, quota, signal }]: Parameters<ValueChanges['write']>
  ): Promise<WriteResult> {
    signal?.throwIfAborted(); // the fence of the transaction aborts it
    const one = this.#values.get(idOf({ namespace, key }));
    if (one === undefined) throw new Error('the value was not loaded');
    const { version, body } = one;
    if (!isAsExpected(version === null ? undefined : { version, body }, expected))
      return { status: 'conflict' };
    const isThere = one.next === undefined ? one.wasThere : one.next !== null;
    const bytes = value === undefined ? 0 : bytesOf({ key, body: value.body });
    const more = { keys: Number(value !== undefined) - Number(isThere), bytes: bytes - one.bytes };
    const size = this.#sizes.get(namespace);
    if (size !== undefined) {
      const after = () => ({
        keys: size.was.keys + size.added.keys + more.keys,
        bytes: size.was.bytes + size.added.bytes + more.bytes,
      });
      if (value !== undefined && !fits(after(), quota)) {
        await this.#dropOthers(namespace);
        if (!fits(after(), quota)) return { status: 'full', ...after() };
      }
      size.added.keys += more.keys;
      size.added.bytes += more.bytes;
    }
    one.next = value ?? null;
    one.version = value === undefined ? null : 'of this transaction';
    one.body = value?.body ?? '';
    one.bytes = bytes;
    return { status: 'written' };
  }

  async #dropOthers(namespace: string): Promise<void> {
    const own = [...this.#values.values()].filter((one) => one.namespace === namespace);
    const ofOthers = 'namespace = $1 AND key <> ALL($2) AND expires_at_ms <= $3';
    await dropValues(this.#query, ofOthers, [namespace, own.map(({ key }) => key), this.#nowMs]);
    await this.#hold([namespace]);
  }

  async clear(namespace: string): Promise<number> {
    await holdNamespaces(this.#query, [namespace]);
    return dropValues(this.#query, 'namespace = $1', [namespace]);
  }

  /** Writes what was changed. */
  flush(writes: JoinedWrites): void {
    const changed = [...this.#values.values()].flatMap(({ next, ...one }) =>
      next === undefined
        ? []
        : { ...one, isGone: next === null, expires_at_ms: next?.expiresAtMs ?? null },
    );
    writes.addRows(
      valueTypes,
      changed.filter(({ wasThere, isGone }) => !wasThere && !isGone),
      (given, names) => `INSERT INTO sluice_key_values (${names}) SELECT ${names} FROM ${given}
        ORDER BY namespace, key`,
    );
    writes.addRows(
      valueTypes,
      changed.filter(({ wasThere, isGone }) => wasThere && !isGone),
      (
        given,
      ) => `UPDATE sluice_key_values AS kept SET body = given.body, expires_at_ms = given.expires_at_ms,
          bytes = given.bytes, version = DEFAULT FROM ${given}
        WHERE kept.namespace = given.namespace AND kept.key = given.key`,
    );
    writes.addRows(
      { namespace: 'text', key: 'text' },
      changed.filter(({ wasThere, isGone }) => wasThere && isGone),
      (given) =>
        `DELETE FROM sluice_key_values WHERE (namespace, key) IN (SELECT namespace, key FROM ${given})`,
    );
    writes.addRows(
      { namespace: 'text', keys: 'int8', bytes: 'int8' },
      [...this.#sizes]
        .map(([namespace, { added }]) => ({ namespace, ...added }))
        .filter(({ keys, bytes }) => keys !== 0 || bytes !== 0),
      (given) => `UPDATE sluice_key_value_sizes AS sizes SET keys = sizes.keys + given.keys,
          bytes = sizes.bytes + given.bytes FROM ${given} WHERE sizes.namespace = given.namespace`,
    );
  }
}

const valueTypes = {
  ...{ namespace: 'text', key: 'text', body: 'text' },
  ...{ expires_at_ms: 'float8', bytes: 'int8' },
};

/** Names a value by its key as the database has it, which keeps no null character and no half of a surrogate pair (durability §11.8). */
function idOf({ namespace, key }: Readonly<{ namespace?: unknown; key?: unknown }>): string {
  const persisted = Buffer.from(String(key).replaceAll('\u0000', '\ufffd')).toString();
  return JSON.stringify([namespace, persisted]);
}

/** Keeps other writers from namespaces until the transaction ends, in one order. @returns their sizes. */
function holdNamespaces(query: PostgresQuery, namespaces: readonly string[]) {
  return query(
    `INSERT INTO sluice_key_value_sizes AS sizes SELECT namespace, 0, 0 FROM unnest($1::text[]) AS namespace
      ORDER BY namespace ON CONFLICT (namespace) DO UPDATE SET keys = sizes.keys RETURNING namespace, keys, bytes`,
    [namespaces],
  );
}

/** Drops some values that have expired, those first that expired first. @returns how many. */
export function dropExpired(query: PostgresQuery, nowMs: number, most: number): Promise<number> {
  const first = `SELECT namespace, key FROM sluice_key_values WHERE expires_at_ms <= $1
    ORDER BY expires_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED`;
  return dropValues(query, `(namespace, key) IN (${first})`, [nowMs, most]);
}

/** Drops values, and counts them out of their namespaces. @returns how many. */
export async function dropValues(
  query: PostgresQuery,
  condition: string,
  values: NonNullable<Parameters<PostgresQuery>[1]>,
): Promise<number> {
  const gone = await query(
    `WITH gone AS (DELETE FROM sluice_key_values WHERE ${condition} RETURNING namespace, bytes),
      sums AS (SELECT namespace, count(*) AS keys, sum(bytes) AS bytes FROM gone GROUP BY namespace),
      less AS (UPDATE sluice_key_value_sizes AS sizes SET keys = sizes.keys - sums.keys, bytes = sizes.bytes - sums.bytes
        FROM sums WHERE sizes.namespace = sums.namespace)
      SELECT keys FROM sums`,
    values,
  );
  return gone.reduce((all, { keys }) => all + Number(keys), 0);
}
