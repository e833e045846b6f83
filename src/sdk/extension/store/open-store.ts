import { definedFields, nearest, type SluiceError } from 'sluice-kernel/internal';
import type {
  ExtensionStore,
  StoreEntry,
  StoreListOptions,
  StoreSetOptions,
} from '../define/store.js';
import { extensionError } from '../errors.js';
import { type ChangedAt, changeValue } from './change-value.js';
import type { KeptValue, KeyValueQuota, KeyValues, NewValue } from './key-values.js';
import { notPlain } from './plain-json.js';

/** The quota of one extension by default. */
export const usualQuota: KeyValueQuota = { maxKeys: 10_000, maxBytes: 16 * 1024 * 1024 };

/** The parts of a store. */
interface StoreParts {
  readonly values: Pick<KeyValues, 'get' | 'list' | 'write'>;
  /** The time of day, by which values expire. */
  readonly now: () => number;
  readonly quota?: KeyValueQuota;
}

const keyPattern = /^[^\p{Cc}\p{Cs}]{1,512}$/u;
/** A part of a key: the empty text is one, too. */
const partPattern = /^[^\p{Cc}\p{Cs}]*$/u;
/** The last moment that a date can have, in milliseconds since 1970. */
const lastMs = 8.64e15;
const setOptions = ['ttlMs'];

/** Opens the store of one extension (extensions-that-act §2): its id is the namespace. */
export function openStore(
  extensionId: string,
  { values, now, quota = usualQuota }: StoreParts,
): ExtensionStore {
  const refuse = (key: string, path: string, problem: string): never => {
    throw extensionError('not-storable', { extensionId, key, path, problem });
  };
  const checkKey = (key: unknown, pattern = keyPattern): void => {
    const isKey = typeof key === 'string' && pattern.test(key);
    if (!isKey) throw extensionError('bad-store-key', { extensionId, key: JSON.stringify(key) });
  };
  const kept = (key: string, value: unknown, options: StoreSetOptions = {}): NewValue => {
    const found = notPlain(value);
    if (found !== undefined) refuse(key, found.path, found.problem);
    const unknown = Object.keys(options).find((name) => !setOptions.includes(name));
    if (unknown !== undefined) {
      const close = nearest(unknown, setOptions);
      refuse(
        key,
        `options.${unknown}`,
        close === undefined ? 'there is no such option' : `it should be "${close}"`,
      );
    }
    const { ttlMs } = options;
    if (ttlMs !== undefined && !(Number.isFinite(ttlMs) && ttlMs > 0))
      refuse(key, 'options.ttlMs', `it is ${String(ttlMs)}, and no number above 0`);
    const expiresAtMs = ttlMs === undefined ? undefined : now() + ttlMs;
    if (expiresAtMs !== undefined && expiresAtMs > lastMs)
      refuse(key, 'options.ttlMs', `it is ${ttlMs}, later than any date; leave it out to keep it`);
    return { body: JSON.stringify(value), ...definedFields({ expiresAtMs }) };
  };
  return Object.freeze({
    get: async <T>(key: string) => {
      checkKey(key);
      return read<T>(await values.get(extensionId, key));
    },
    set: async (key: string, value: unknown, options?: StoreSetOptions) => {
      checkKey(key);
      const result = await values.write(extensionId, key, kept(key, value, options), { quota });
      if (result.status === 'full') throw full(extensionId, result, quota);
    },
    delete: async (key: string) => {
      checkKey(key);
      return (await deleteValue({ values, namespace: extensionId, key, quota })) !== undefined;
    },
    list: async <T>(
      prefix = '',
      { after, limit = Number.MAX_SAFE_INTEGER }: StoreListOptions = {},
    ) => {
      for (const part of [prefix, after ?? '']) checkKey(part, partPattern);
      const most = limit >= 1 ? Math.floor(limit) : 0; // also if it is no number
      const given = { prefix, limit: most, ...definedFields({ after }) };
      return (await values.list(extensionId, given)).map((row) => entryOf<T>(row));
    },
    update: async <T>(
      key: string,
      change: (before: T | undefined) => T | undefined | Promise<T | undefined>,
      options?: StoreSetOptions,
    ) => {
      checkKey(key);
      const changing = async (was: KeptValue | undefined) => {
        const next = await change(read<T>(was));
        return next === undefined ? undefined : kept(key, next, options);
      };
      const at = { values, namespace: extensionId, key, quota };
      const { result, was, value } = await changeValue(at, changing);
      if (result?.status === 'full') throw full(extensionId, result, quota);
      return value ? (JSON.parse(value.body) as T) : read<T>(was); // it was a T
    },
  });
}

/**
 * Deletes a value in one step with the look at it.
 *
 * @param fits asked of its text; if it says no, the value stays.
 * @returns the value that is deleted.
 */
export async function deleteValue(
  at: ChangedAt,
  fits: (body: string) => boolean = () => true,
): Promise<KeptValue | undefined> {
  const next = (was: KeptValue | undefined) => (was && fits(was.body) ? null : undefined);
  const { result, was } = await changeValue({ quota: usualQuota, ...at }, next);
  return result && was;
}

function read<T>(value: KeptValue | undefined): T | undefined {
  return value === undefined ? undefined : (JSON.parse(value.body) as T); // the caller's word
}

function entryOf<T>({ key, body, expiresAtMs }: KeptValue): StoreEntry<T> {
  return { key, value: JSON.parse(body) as T, ...definedFields({ expiresAtMs }) }; // the type is the caller's word
}

function full(
  extensionId: string,
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  { maxKeys, maxBytes }: KeyValueQuota,
): SluiceError {
  const problem =
    keys > maxKeys ? `${keys} keys of at most ${maxKeys}` : `${bytes} bytes of at most ${maxBytes}`;
  return extensionError('store-full', { extensionId, problem });
}
