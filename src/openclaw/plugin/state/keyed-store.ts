import { createHash } from 'node:crypto';
import type { ExtensionStore } from '@sluice/sdk/extension';
import { hasFields } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields, type Fields, fieldsOf } from 'sluice-kernel/internal';
import { inTurn } from './in-turn.js';

/** The options of `openKeyedStore`. */
export interface KeyedStoreOptions {
  readonly namespace: string;
  /** Such a store is another one than that without it, and has any number of entries. */
  readonly retention?: 'retained';
  readonly maxEntries?: number;
  /** Of more entries than that the oldest go, or else a new one is refused. */
  readonly overflowPolicy?: 'evict-oldest' | 'reject-new';
  readonly defaultTtlMs?: number;
}

interface Keeping {
  readonly ttlMs?: number;
}

/** An entry as it is kept. */
interface Kept {
  readonly value: unknown;
  readonly createdAt: number;
}

const isKept = hasFields<Kept>({ createdAt: 'number' });
const valueIn = (kept: unknown): unknown => (isKept(kept) ? kept.value : undefined);

/** An entry as it was seen: the comparison is the same as long as nobody has written it. */
interface Observed {
  readonly value: unknown;
  readonly comparison: string;
}

interface CompareIntent extends Keeping {
  readonly action: 'set' | 'delete' | 'keep';
  readonly value?: unknown;
}

function formOf(was: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(was) ?? '')
    .digest('base64url');
}

export interface BlobStoreOptions extends KeyedStoreOptions {
  readonly maxBytesPerEntry?: number;
  readonly maxBytesPerNamespace?: number;
}

/** The parts of a keyed store. */
interface KeyedStoreParts {
  readonly store: ExtensionStore;
  readonly clock: Clock;
  /** Deletes a value if its text fits, in one step: another host may write it meanwhile. @returns the text that it had. */
  readonly remove: (key: string, fits: (body: string) => boolean) => Promise<string | undefined>;
}

/** `state.openKeyedStore`: values by key, in a namespace of the plugin's store. */
export function keyedStore({ store, clock, remove }: KeyedStoreParts, options: KeyedStoreOptions) {
  const { namespace, retention, maxEntries = Infinity, overflowPolicy, defaultTtlMs } = options;
  const named = retention === undefined ? namespace : [retention, namespace];
  const prefix = `${JSON.stringify([named]).slice(0, -1)},`;
  const run = inTurn();
  /** The keys that are kept, the oldest first; one that has expired stays until there is need of its place. */
  let known: Set<string> | undefined;

  const keyOf = (key: string): string => `${prefix}${JSON.stringify(key)}]`;
  const nameOf = (kept: string): string => String((JSON.parse(kept) as unknown[])[1]); // as keyOf writes it
  const listed = async () => {
    const found = (await store.list(prefix)).flatMap(({ key, value, expiresAtMs }) => {
      const more = { ...definedFields({ expiresAt: expiresAtMs }), key: nameOf(key) };
      return isKept(value) ? { ...value, ...more } : [];
    });
    return found.sort((one, other) => one.createdAt - other.createdAt);
  };
  const get = async (key: string): Promise<unknown> => valueIn(await store.get(keyOf(key)));
  /** @returns the entry that is deleted. */
  const take = async (
    key: string,
    fits: (value: unknown, was: unknown) => boolean = () => true,
  ) => {
    const body = await remove(keyOf(key), (text) => {
      const was: unknown = JSON.parse(text);
      return fits(valueIn(was), was);
    });
    if (body === undefined) return undefined;
    known?.delete(key);
    return { value: valueIn(JSON.parse(body)) };
  };
  const makeRoom = async (key: string): Promise<void> => {
    known ??= new Set((await listed()).map((entry) => entry.key));
    if (known.has(key) || known.size < maxEntries) return;
    known = new Set((await listed()).map((entry) => entry.key)); // without those that have expired
    if (known.size >= maxEntries && overflowPolicy === 'reject-new')
      throw new Error(`namespace "${namespace}" has ${maxEntries} entries already`);
    for (const oldest of known) {
      if (known.size < maxEntries) return;
      await take(oldest);
    }
  };
  /** Changes an entry in one step. @returns whether it is changed: not if `change` gives nothing. */
  const put = (
    key: string,
    change: (value: unknown, was: unknown) => unknown,
    { ttlMs = defaultTtlMs }: Keeping = {},
  ): Promise<boolean> =>
    run(async () => {
      let isChanged = false;
      const changed = async (was: unknown) => {
        const value = change(valueIn(was), was);
        isChanged = value !== undefined;
        if (!isChanged) return undefined;
        await makeRoom(key);
        return { value, createdAt: clock.now() };
      };
      await store.update(keyOf(key), changed, definedFields({ ttlMs }));
      if (isChanged) known?.delete(key);
      if (isChanged) known?.add(key); // the newest
      return isChanged;
    });
  const deleteIf = (key: string, fits?: (value: unknown) => boolean): Promise<boolean> =>
    run(async () => (await take(key, fits)) !== undefined);

  const observe = async (key: string): Promise<Observed> => {
    const was: unknown = await store.get(keyOf(key));
    return { value: valueIn(was), comparison: formOf(was) };
  };
  /** Changes or deletes an entry in one step if it is as it was observed. */
  const compareAndApply = async (
    key: string,
    comparison: string,
    intent: CompareIntent,
  ): Promise<object> => {
    const { action, value, ttlMs } = intent;
    let isSame = false;
    const fits = (was: unknown): boolean => {
      isSame = formOf(was) === comparison;
      return isSame && action !== 'keep';
    };
    const isApplied =
      action === 'delete'
        ? await run(async () => (await take(key, (_, was) => fits(was))) !== undefined)
        : await put(key, (_, was) => (fits(was) ? value : undefined), definedFields({ ttlMs }));
    if (isApplied) return { status: 'applied' };
    const current = await run(() => observe(key));
    if (isSame || current.comparison === comparison) return { status: 'unchanged' };
    return { status: 'conflict', current };
  };

  return {
    observe: (key: string) => run(() => observe(key)),
    compareAndApply,
    lookupMany: (keys: readonly string[]) =>
      run(async () => {
        const all: object[] = [];
        for (const key of keys) all.push({ ok: true, value: await get(key) });
        return all;
      }),
    register: async (key: string, value: unknown, how?: Keeping) =>
      void (await put(key, () => value, how)),
    registerIfAbsent: (key: string, value: unknown, how?: Keeping) =>
      put(key, (was) => (was === undefined ? value : undefined), how),
    update: put,
    lookup: (key: string) => run(() => get(key)),
    consume: (key: string) => run(async () => (await take(key))?.value),
    delete: (key: string) => deleteIf(key),
    deleteIf,
    deleteIfEqual: (key: string, expected: unknown) => deleteIf(key, (one) => one === expected),
    entries: () => run(listed),
    count: () => run(async () => (await listed()).length),
    clear: () =>
      run(async () => {
        for (const { key } of await listed()) await take(key);
      }),
  };
}

/** `state.openBlobStore`: bytes by key, each with metadata, in a keyed store. */
export function blobStore(store: ReturnType<typeof keyedStore>, options: BlobStoreOptions) {
  const { namespace, maxBytesPerEntry = Infinity, maxBytesPerNamespace = Infinity } = options;
  const infoOf = ({ value, ...times }: { readonly key: string; readonly value: unknown }) => {
    const { metadata, sizeBytes } = fieldsOf(value);
    return { ...times, metadata, sizeBytes: Number(sizeBytes) };
  };
  const list = async () => (await store.entries()).map(infoOf);
  const entryOf = async (key: string, bytes: Uint8Array, metadata: unknown): Promise<Fields> => {
    const sizeBytes = bytes.byteLength;
    const others = (await list()).filter((one) => one.key !== key);
    const all = others.reduce((sum, one) => sum + one.sizeBytes, sizeBytes);
    if (sizeBytes > maxBytesPerEntry || all > maxBytesPerNamespace)
      throw new Error(`namespace "${namespace}" has no room for ${sizeBytes} bytes more`);
    return { metadata, sizeBytes, bytes: Buffer.from(bytes).toString('base64') };
  };
  return {
    register: async (key: string, bytes: Uint8Array, metadata: unknown, how?: Keeping) =>
      store.register(key, await entryOf(key, bytes, metadata), how),
    registerIfAbsent: async (key: string, bytes: Uint8Array, metadata: unknown, how?: Keeping) =>
      store.registerIfAbsent(key, await entryOf(key, bytes, metadata), how),
    lookup: async (key: string) => {
      const entry = (await store.entries()).find((one) => one.key === key);
      const bytes = Buffer.from(String(fieldsOf(entry?.value)['bytes'] ?? ''), 'base64');
      return entry && { ...infoOf(entry), bytes };
    },
    entries: list,
    delete: store.delete,
    deleteExpiredKey: async () => undefined, // what has expired is gone
    deleteExpired: async () => [],
    clear: store.clear,
  };
}
