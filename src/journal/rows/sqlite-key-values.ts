import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  KeptValue,
  KeyValueReader,
  NamespaceUse,
  NewValue,
  WriteResult,
} from '@sluice/sdk/extension';
import { bytesOf, fits, isAsExpected } from '@sluice/sdk/extension/internal';
import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import type { ValueChanges } from '../journal-changes.js';
import { keyValuesTable } from './journal-rows.js';
import { type HowRead, tableRows } from './table-rows.js';

/** The keys of a namespace, and their bytes with those of their values. */
type NamespaceSize = Omit<NamespaceUse, 'namespace'>;

/** The namespace in which the sizes of the others are persisted, each under the name of its namespace. */
const sizes = '';

/** Values that are read at once: other work has its turn between two such readings. */
const page = 500;

/** Values that have expired and that each write drops, so that no more of them pile up than are written. */
const dropsPerWrite = 4;

const isKey = 'namespace = ? AND key = ?';

/**
 * The key values in the table of a journal. Each change is within a transaction of the caller, and keeps the size of its
 * namespace. Several processes may change them: each change looks first.
 */
export class SqliteKeyValues implements KeyValueReader, ValueChanges {
  readonly #database: SqliteDatabase;
  readonly #now: () => number;
  readonly #onDamaged: HowRead['onDamaged'];
  readonly #rows: ReturnType<typeof tableRows>;

  /** @param now gives the time of day, by which values expire. */
  constructor(database: SqliteDatabase, now: () => number, onDamaged?: HowRead['onDamaged']) {
    this.#database = database;
    this.#now = now;
    this.#onDamaged = onDamaged;
    this.#rows = tableRows(database, keyValuesTable); // no secret is taken out: these data are their owner's
  }

  async get(namespace: string, key: string): Promise<KeptValue | undefined> {
    return this.#alive(namespace, key);
  }

  async list(
    namespace: string,
    { prefix, after = '', limit }: Parameters<KeyValueReader['list']>[1],
  ): Promise<KeptValue[]> {
    const nowMs = this.#now();
    const found: KeptValue[] = [];
    const most = Math.min(page, limit);
    for (let last = after; ; ) {
      const rows = this.#read('namespace = ? AND key >= ? AND key > ? ORDER BY key LIMIT ?', [
        ...[namespace, prefix, last, most],
      ]);
      for (const row of rows) {
        last = String(row['key']);
        if (found.length >= limit || !last.startsWith(prefix)) return found;
        if (!hasExpired(row, nowMs)) found.push(keyValueOf(row));
      }
      if (rows.length < most || most === 0) return found;
      await nextTurn();
    }
  }

  async namespaces(): Promise<NamespaceUse[]> {
    return this.#read('namespace = ? ORDER BY key', [sizes]).map(({ key, body }) => ({
      ...{ namespace: String(key), ...sizeIn(String(body)) },
    }));
  }

  /** Writes a value, or deletes it, as `KeyValues.write` says. */
  write(
    ...[namespace, key, value, { expected, quota, signal }]: Parameters<ValueChanges['write']>
  ): WriteResult {
    signal?.throwIfAborted();
    const nowMs = this.#now();
    this.dropExpired(nowMs, dropsPerWrite);
    if (expected !== undefined && !isAsExpected(this.#alive(namespace, key), expected))
      return { status: 'conflict' };
    let was = this.#find(namespace, key);
    if (value === undefined) {
      if (was !== undefined) this.#drop(was);
      return { status: 'written' };
    }
    const sizeAfter = (): NamespaceSize => {
      const { keys, bytes } = this.#sizeOf(namespace);
      const more = bytesOf({ key, body: value.body }) - Number(was?.['bytes'] ?? 0);
      return { keys: keys + (was === undefined ? 1 : 0), bytes: bytes + more };
    };
    let size = sizeAfter();
    if (!fits(size, quota)) {
      this.#rows.delete('namespace = ? AND expires_at_ms <= ?', namespace, nowMs);
      this.#keepSize(namespace, this.#counted(namespace));
      was = this.#find(namespace, key);
      size = sizeAfter();
      if (!fits(size, quota)) return { status: 'full', ...size };
    }
    this.#put(was, namespace, key, value);
    this.#keepSize(namespace, size);
    return { status: 'written' };
  }

  /** Deletes all of a namespace. @returns how many values that were. */
  clear(namespace: string): number {
    const changes = this.#rows.delete('namespace = ?', namespace);
    this.#keepSize(namespace, { keys: 0, bytes: 0 });
    return changes;
  }

  /** Counts each namespace anew, after rows were lost. */
  recount(): void {
    this.#rows.delete('namespace = ?', sizes);
    const all = this.#database.prepare(`SELECT DISTINCT namespace FROM ${keyValuesTable.name}`);
    for (const { namespace } of all.all())
      this.#keepSize(String(namespace), this.#counted(String(namespace)));
  }

  /** Drops some values that have expired, those first that expired first. @returns how many. */
  dropExpired(nowMs: number, most: number): number {
    const expired = this.#rows.read(
      'expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?',
      [nowMs, most],
      { withoutBody: true, onDamaged: () => undefined }, // whoever reads the row hears of the damage
    );
    for (const row of expired) this.#drop(row);
    return expired.length;
  }

  #read(condition: string, values: readonly (string | number)[]): SqliteRow[] {
    return this.#rows.read(condition, values, { onDamaged: this.#onDamaged });
  }

  /** A value without its body. */
  #find(namespace: string, key: string): SqliteRow | undefined {
    return this.#rows.find(isKey, namespace, key);
  }

  #alive(namespace: string, key: string): KeptValue | undefined {
    const [row] = this.#read(isKey, [namespace, key]);
    return row === undefined || hasExpired(row, this.#now()) ? undefined : keyValueOf(row);
  }

  #put(was: SqliteRow | undefined, namespace: string, key: string, given: NewValue): void {
    const { body, expiresAtMs } = given;
    const version = Number(was?.['version'] ?? 0) + 1;
    const bytes = bytesOf({ key, body });
    const row = keyValuesTable.row({ namespace, key, version, expiresAtMs, bytes, body });
    if (was !== undefined) this.#rows.change(was, row);
    else this.#rows.add(row, { isLookedUp: true }); // another process may have written the last row
  }

  #drop(row: SqliteRow): void {
    const namespace = String(row['namespace']);
    const { keys, bytes } = this.#sizeOf(namespace);
    this.#rows.delete('seq = ?', row['seq'] ?? null);
    this.#keepSize(namespace, { keys: keys - 1, bytes: bytes - Number(row['bytes']) });
  }

  #sizeOf(namespace: string): NamespaceSize {
    const [persisted] = this.#read(isKey, [sizes, namespace]);
    return persisted === undefined ? this.#counted(namespace) : sizeIn(String(persisted['body']));
  }

  #counted(namespace: string): NamespaceSize {
    const count = this.#database.prepare(
      `SELECT count(*) AS keys, coalesce(sum(bytes), 0) AS bytes FROM ${keyValuesTable.name} WHERE namespace = ?`,
    );
    const row = count.get(namespace);
    return { keys: Number(row?.['keys']), bytes: Number(row?.['bytes']) };
  }

  #keepSize(namespace: string, size: NamespaceSize): void {
    const was = this.#find(sizes, namespace);
    if (size.keys > 0) this.#put(was, sizes, namespace, { body: JSON.stringify(size) });
    else if (was !== undefined) this.#rows.delete('seq = ?', was['seq'] ?? null);
  }
}

function sizeIn(body: string): NamespaceSize {
  const { keys, bytes }: { readonly [part in keyof NamespaceSize]?: unknown } = JSON.parse(body);
  return { keys: Number(keys), bytes: Number(bytes) };
}

function hasExpired({ expires_at_ms: expiresAtMs }: SqliteRow, nowMs: number): boolean {
  return typeof expiresAtMs === 'number' && expiresAtMs <= nowMs;
}

function keyValueOf(row: SqliteRow): KeptValue {
  const { key, body, seq, version, expires_at_ms: expiresAtMs } = row;
  return {
    ...{ key: String(key), body: String(body), version: `${seq}.${version}` },
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
  };
}
