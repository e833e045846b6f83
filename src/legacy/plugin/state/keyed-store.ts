import type { ExtensionStore } from '../../../extension/index.js';
import { type Clock, definedFields } from '../../../kernel/index.js';
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

/** `state.openKeyedStore`: values by key, in a namespace of the plugin's store. */
export function keyedStore(store: ExtensionStore, clock: Clock, options: KeyedStoreOptions) {
  const {
    namespace,
    retention,
    maxEntries = Number.POSITIVE_INFINITY,
    overflowPolicy,
    defaultTtlMs,
  } = options;
  const named = retention === undefined ? namespace : [retention, namespace];
  const prefix = `${JSON.stringify([named]).slice(0, -1)},`;
  const run = inTurn();
  /** The keys that are kept, the oldest first; one that has expired stays until there is need of its place. */
  let known: Set<string> | undefined;

  const keyOf = (key: string): string => `${prefix}${JSON.stringify(key)}]`;
  const nameOf = (kept: string): string => String((JSON.parse(kept) as unknown[])[1]); // as keyOf writes it
  const listed = async () => {
    const found = (await store.list(prefix)).map(({ key, value, expiresAtMs }) => ({
      ...(value as Kept), // nothing else is written here
      ...definedFields({ expiresAt: expiresAtMs }),
      key: nameOf(key),
    }));
    return found.sort((one, other) => one.createdAt - other.createdAt);
  };
  const get = async (key: string): Promise<unknown> => (await store.get<Kept>(keyOf(key)))?.value;
  const remove = async (key: string): Promise<boolean> => {
    known?.delete(key);
    return store.delete(keyOf(key));
  };
  const makeRoom = async (key: string): Promise<void> => {
    known ??= new Set((await listed()).map((entry) => entry.key));
    if (known.has(key) || known.size < maxEntries) return;
    known = new Set((await listed()).map((entry) => entry.key)); // without those that have expired
    if (known.size >= maxEntries && overflowPolicy === 'reject-new')
      throw new Error(`namespace "${namespace}" has ${maxEntries} entries already`);
    for (const oldest of known) {
      if (known.size < maxEntries) return;
      await remove(oldest);
    }
  };
  const put = async (key: string, value: unknown, { ttlMs = defaultTtlMs }: Keeping = {}) => {
    await makeRoom(key);
    const kept: Kept = { value, createdAt: clock.now() };
    await store.set(keyOf(key), kept, definedFields({ ttlMs }));
    known?.delete(key);
    known?.add(key); // the newest
  };
  const deleteIf = (key: string, fits: (value: unknown) => boolean): Promise<boolean> =>
    run(async () => {
      const value = await get(key);
      return value !== undefined && fits(value) && remove(key);
    });

  return {
    register: (key: string, value: unknown, how?: Keeping) => run(() => put(key, value, how)),
    registerIfAbsent: (key: string, value: unknown, how?: Keeping) =>
      run(async () => {
        const isAbsent = (await get(key)) === undefined;
        if (isAbsent) await put(key, value, how);
        return isAbsent;
      }),
    update: (key: string, change: (value: unknown) => unknown, how?: Keeping) =>
      run(async () => {
        const next = change(await get(key));
        if (next !== undefined) await put(key, next, how);
        return next !== undefined;
      }),
    lookup: (key: string) => run(() => get(key)),
    consume: (key: string) =>
      run(async () => {
        const value = await get(key);
        await remove(key);
        return value;
      }),
    delete: (key: string) => run(() => remove(key)),
    deleteIf,
    deleteIfEqual: (key: string, expected: unknown) => deleteIf(key, (one) => one === expected),
    entries: () => run(listed),
    count: () => run(async () => (await listed()).length),
    clear: () =>
      run(async () => {
        for (const { key } of await listed()) await remove(key);
      }),
  };
}
