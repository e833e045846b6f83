import type { ExtensionStore, KeyValues } from '@sluice/sdk/extension';
import { deleteValue, hasFields, openStore } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields, getOrMake } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import { accountOf } from '../channel/settings.js';
import type { LegacyState } from '../shape/intake.js';
import { inTurn } from './in-turn.js';
import { type IngressQueue, ingressQueue } from './ingress-queue.js';

/** The stores of a plugin, from both sides. */
export interface PluginState extends LegacyState {
  readonly openKeyedStore: (options: KeyedStoreOptions) => object;
  readonly openChannelIngressQueue: (options?: { readonly accountId?: string }) => IngressQueue;
}

/** Makes the stores of a plugin: each call rejects as `no-state` until a host keeps them. */
export function pluginState(extensionId: string, clock: Clock): PluginState {
  let kept: KeyValues | undefined;
  const values = (): KeyValues => {
    if (kept === undefined) throw legacyError('no-state', { extensionId });
    return kept;
  };
  const late: Pick<KeyValues, 'get' | 'list' | 'write'> = {
    get: async (...given) => values().get(...given),
    list: async (...given) => values().list(...given),
    write: async (...given) => values().write(...given),
  };
  const store = openStore(extensionId, { now: () => clock.now(), values: late });
  const remove = async (key: string, fits: (body: string) => boolean) =>
    (await deleteValue({ values: late, namespace: extensionId, key }, fits))?.body;
  const queues = new Map<string, ReturnType<typeof ingressQueue>>();
  const stores = new Map<string, object>();
  /** For each account that was started: another host has it. */
  const lost = new Map<string, AbortSignal | undefined>();
  return {
    keepIn: (given) => {
      kept = given;
      queues.clear(); // they know what the values before had
      stores.clear();
    },
    reread: (accountId, signal) => {
      lost.set(accountOf(accountId), signal);
      queues.get(accountOf(accountId))?.reread();
    },
    openKeyedStore: (options) =>
      getOrMake(stores, JSON.stringify(options), () =>
        keyedStore({ store, clock, remove }, options),
      ),
    openChannelIngressQueue: ({ accountId } = {}) => {
      const account = accountOf(accountId);
      return getOrMake(queues, account, () =>
        ingressQueue({
          ...{ channelId: extensionId, accountId: account, clock, values: late },
          lost: () => lost.get(account),
        }),
      ).queue;
    },
  };
}

/** The options of `openKeyedStore`. */
interface KeyedStoreOptions {
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

/** The parts of a keyed store. */
interface KeyedStoreParts {
  readonly store: ExtensionStore;
  readonly clock: Clock;
  /** Deletes a value if its text fits, in one step: another host may write it meanwhile. @returns the text that it had. */
  readonly remove: (key: string, fits: (body: string) => boolean) => Promise<string | undefined>;
}

/** `state.openKeyedStore`: values by key, in a namespace of the plugin's store. */
function keyedStore({ store, clock, remove }: KeyedStoreParts, options: KeyedStoreOptions) {
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
  const take = async (key: string, fits: (value: unknown) => boolean = () => true) => {
    const body = await remove(keyOf(key), (text) => fits(valueIn(JSON.parse(text))));
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
    change: (value: unknown) => unknown,
    { ttlMs = defaultTtlMs }: Keeping = {},
  ): Promise<boolean> =>
    run(async () => {
      let isChanged = false;
      const changed = async (was: unknown) => {
        const value = change(valueIn(was));
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

  return {
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
