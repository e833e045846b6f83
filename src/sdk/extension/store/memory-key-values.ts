import { type Clock, systemClock } from 'sluice-kernel';
import type { KeptValue, KeyValues } from './key-values.js';
import { byCodePoint, bytesOf, fits, isAsExpected } from './sizes.js';

/** A namespace with the bytes of its keys and bodies. */
interface Namespace {
  readonly values: Map<string, KeptValue>;
  bytes: number;
}

/** Values that can expire at which each write looks, so that no more of them pile up than are written. */
const looksPerWrite = 2;

/**
 * Makes key values in memory: they are gone with the process.
 *
 * @example
 * const values = memoryKeyValues();
 * await values.write('acme', 'seen', { body: '1' }, { quota: usualQuota });
 */
export function memoryKeyValues(clock: Clock = systemClock): KeyValues {
  const spaces = new Map<string, Namespace>();
  /** Those that can expire, by the name of both; the one that was looked at longest ago comes first. */
  const expiring = new Map<string, readonly [namespace: string, key: string]>();
  let writes = 0;

  const isGone = ({ expiresAtMs }: KeptValue): boolean =>
    expiresAtMs !== undefined && expiresAtMs <= clock.now();
  const remove = (namespace: string, key: string): void => {
    const space = spaces.get(namespace);
    const was = space?.values.get(key);
    if (space === undefined || was === undefined) return;
    expiring.delete(nameOf(namespace, key));
    space.values.delete(key);
    space.bytes -= bytesOf(was);
    if (space.values.size === 0) spaces.delete(namespace);
  };
  const alive = (namespace: string, key: string): KeptValue | undefined => {
    const value = spaces.get(namespace)?.values.get(key);
    if (value === undefined || !isGone(value)) return value;
    remove(namespace, key);
    return undefined;
  };
  const lookAtSome = (): void => {
    for (let left = Math.min(looksPerWrite, expiring.size); left > 0; left--)
      for (const [name, [namespace, key]] of expiring) {
        expiring.delete(name);
        if (alive(namespace, key) !== undefined) expiring.set(name, [namespace, key]);
        break;
      }
  };
  const put = (namespace: string, value: KeptValue): void => {
    const space = spaces.get(namespace) ?? { values: new Map(), bytes: 0 };
    spaces.set(namespace, space);
    space.values.set(value.key, value);
    space.bytes += bytesOf(value);
    if (value.expiresAtMs !== undefined)
      expiring.set(nameOf(namespace, value.key), [namespace, value.key]);
  };

  return {
    get: async (namespace, key) => alive(namespace, key),
    write: async (namespace, key, value, { expected, quota, signal }) => {
      signal?.throwIfAborted();
      lookAtSome();
      const was = alive(namespace, key);
      if (!isAsExpected(was, expected)) return { status: 'conflict' };
      if (value === undefined) {
        remove(namespace, key);
        return { status: 'written' };
      }
      const next: KeptValue = { key, ...value, version: String(++writes) };
      const sizeAfter = () => {
        const { values, bytes = 0 } = spaces.get(namespace) ?? {};
        return {
          keys: (values?.size ?? 0) + (was === undefined ? 1 : 0),
          bytes: bytes + bytesOf(next) - (was === undefined ? 0 : bytesOf(was)),
        };
      };
      if (!fits(sizeAfter(), quota))
        for (const one of spaces.get(namespace)?.values.keys() ?? []) alive(namespace, one);
      const size = sizeAfter();
      if (!fits(size, quota)) return { status: 'full', ...size };
      remove(namespace, key);
      put(namespace, next);
      return { status: 'written' };
    },
    clear: async (namespace) => {
      const keys = [...(spaces.get(namespace)?.values.keys() ?? [])];
      for (const key of keys) remove(namespace, key);
      return keys.length;
    },
    list: async (namespace, { prefix, after = '', limit }) => {
      const keys = [...(spaces.get(namespace)?.values.keys() ?? [])]
        .filter((key) => key.startsWith(prefix) && byCodePoint(key, after) > 0)
        .sort(byCodePoint);
      const found: KeptValue[] = [];
      for (const key of keys) {
        if (found.length >= limit) break;
        const value = alive(namespace, key);
        if (value !== undefined) found.push(value);
      }
      return found;
    },
    namespaces: async () => {
      for (const [, [namespace, key]] of expiring) alive(namespace, key);
      return [...spaces]
        .map(([namespace, { values, bytes }]) => ({ namespace, keys: values.size, bytes }))
        .sort((a, b) => byCodePoint(a.namespace, b.namespace));
    },
  };
}

function nameOf(namespace: string, key: string): string {
  return JSON.stringify([namespace, key]);
}
