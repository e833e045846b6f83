import { type Clock, definedFields } from 'sluice-kernel/internal';
import type { ExtensionStore, StoreEntry } from '../define/store.js';
import type { KeptValue } from './key-values.js';
import { memoryKeyValues } from './memory-key-values.js';
import { openStore } from './open-store.js';
import { byCodePoint, isAsExpected } from './sizes.js';

/** The parts of a dry store. */
interface DryStoreParts {
  /** The store that is read, and never written; it is looked up for each read. */
  readonly kept: () => ExtensionStore;
  readonly clock: Clock;
  /** Told of each write. */
  readonly onWrite: () => void;
}

/**
 * Opens a store whose writes stay in memory (judgement §3.8): its owner reads them, over the values that are kept, and
 * nobody else does. The quota counts the values in memory alone.
 */
export function dryStore(
  extensionId: string,
  { kept, clock, onWrite }: DryStoreParts,
): ExtensionStore {
  const written = memoryKeyValues(clock);
  /** The kept keys that a write has replaced or deleted: at most as many as are kept. */
  const hidden = new Set<string>();
  let writes: Promise<unknown> = Promise.resolve(); // one at a time: a write looks before it writes

  const keptValue = async (key: string): Promise<KeptValue | undefined> => {
    if (hidden.has(key)) return undefined;
    const [first] = await kept().list(key, { limit: 1 });
    return first?.key === key ? asKept(first) : undefined;
  };
  const values: Parameters<typeof openStore>[1]['values'] = {
    get: async (namespace, key) => (await written.get(namespace, key)) ?? keptValue(key),
    list: async (namespace, { prefix, after, limit }) => {
      const more = Math.min(limit + hidden.size, Number.MAX_SAFE_INTEGER);
      const below = await kept().list(prefix, { limit: more, ...definedFields({ after }) });
      const found = new Map<string, KeptValue>();
      for (const one of below) if (!hidden.has(one.key)) found.set(one.key, asKept(one));
      const own = await written.list(namespace, {
        ...{ prefix, limit },
        ...definedFields({ after }),
      });
      for (const one of own) found.set(one.key, one);
      return [...found.values()].sort((a, b) => byCodePoint(a.key, b.key)).slice(0, limit);
    },
    write: (namespace, key, value, { expected, quota }) => {
      onWrite();
      const writing = writes.then(async () => {
        const own = await written.get(namespace, key);
        const below = own === undefined ? await keptValue(key) : undefined;
        if (!isAsExpected(own ?? below, expected)) return { status: 'conflict' } as const;
        const result = await written.write(namespace, key, value, definedFields({ quota }));
        if (result.status === 'written' && below !== undefined) hidden.add(key);
        return result;
      });
      writes = writing.catch(() => undefined);
      return writing;
    },
  };
  return openStore(extensionId, { values, now: () => clock.now() });
}

/** A kept entry with its text as its version: a write by somebody else is another text. */
function asKept({ key, value, expiresAtMs }: StoreEntry): KeptValue {
  const body = JSON.stringify(value);
  return { key, body, version: `kept ${body}`, ...definedFields({ expiresAtMs }) };
}
