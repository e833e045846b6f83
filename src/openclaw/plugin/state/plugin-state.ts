import process from 'node:process';
import type { KeyValues } from '@sluice/sdk/extension';
import { deleteValue, openStore } from '@sluice/sdk/extension/internal';
import { type Clock, getOrMake } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import { accountOf } from '../channel/settings.js';
import { moduleOf } from '../sdk/sdk-module.js';
import type { MessageWay } from '../way/message-way.js';
import { ingressQueue } from './ingress-queue.js';
import {
  type BlobStoreOptions,
  blobStore,
  type KeyedStoreOptions,
  keyedStore,
} from './keyed-store.js';
import { watchedQueue } from './watched-queue.js';

/** The stores of a plugin, from both sides. */
export type PluginState = ReturnType<typeof pluginState>;

/** The things that stores are made of. */
interface StateParts {
  readonly clock: Clock;
  readonly way: MessageWay;
  /** The folder of the plugin: stores whose calls do not wait keep their entries there. */
  readonly stateDir: string;
  readonly openclaw: string | undefined;
}

/** Makes the stores of a plugin: each call rejects as `no-state` until a host keeps them. */
export function pluginState(extensionId: string, parts: StateParts) {
  const { clock, way } = parts;
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
    keepIn: (given: KeyValues): void => {
      kept = given;
      queues.clear(); // they know what the values before had
      stores.clear();
    },
    reread: (accountId: string, signal?: AbortSignal): void => {
      lost.set(accountOf(accountId), signal);
      queues.get(accountOf(accountId))?.reread();
    },
    isStuck: (accountId: string) => queues.get(accountOf(accountId))?.isStuck() === true,
    openKeyedStore: (options: KeyedStoreOptions) =>
      getOrMake(stores, JSON.stringify(options), () =>
        keyedStore({ store, clock, remove }, options),
      ),
    openBlobStore: (options: BlobStoreOptions) => {
      const blobs = { ...options, namespace: JSON.stringify(['blobs', options.namespace]) };
      return getOrMake(stores, JSON.stringify(options), () =>
        blobStore(keyedStore({ store, clock, remove }, blobs), options),
      );
    },
    /** A store of the plugin's own OpenClaw; nothing if there is none. */
    openSyncKeyedStore: (options: KeyedStoreOptions) => syncStore(extensionId, options, parts),
    openChannelIngressQueue: ({ accountId }: { readonly accountId?: string } = {}) => {
      const account = accountOf(accountId);
      return getOrMake(queues, account, () => {
        const { queue, ...more } = ingressQueue({
          ...{ channelId: extensionId, accountId: account, clock, values: late },
          lost: () => lost.get(account),
        });
        return { queue: watchedQueue(way, account, queue), ...more };
      }).queue;
    },
  };
}

/** Opens a store by the plugin's own OpenClaw, which keeps its entries in the folder of the plugin. */
function syncStore(
  extensionId: string,
  options: KeyedStoreOptions,
  { stateDir, openclaw }: StateParts,
): object | undefined {
  const make = moduleOf(openclaw, 'plugin-state-store-runtime')?.[
    'createPluginStateSyncKeyedStore'
  ];
  if (typeof make !== 'function') return undefined;
  const env = { ...process.env, OPENCLAW_STATE_DIR: stateDir };
  return make(extensionId, { ...options, env }) as object; // as OpenClaw documents it
}
