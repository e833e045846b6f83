import type { KeyValues } from '@sluice/sdk/extension';
import { deleteValue, openStore } from '@sluice/sdk/extension/internal';
import { type Clock, getOrMake } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import { accountOf } from '../channel/settings.js';
import type { LegacyState } from '../shape/intake.js';
import { type IngressQueue, ingressQueue } from './ingress-queue.js';
import { type KeyedStoreOptions, keyedStore } from './keyed-store.js';

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
