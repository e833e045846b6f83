import { describe, expect, it } from 'vitest';
import { type CanonicalFamilies, canonicalStages } from '../../src/kernel/catalog/index.js';
import { createKernel, isSluiceError } from '../../src/kernel/internal.js';
import { samplePayloads } from '../../src/testing/samples.js';

type Family = keyof CanonicalFamilies;
type Path = readonly string[];

const boom = (): never => {
  throw new TypeError('a hostile value');
};

const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};

/** Values that nobody can read. Each has the type of an object of data, or of a list. */
const hostile: Readonly<Record<string, () => unknown>> = {
  'a revoked proxy of an object': () => revoked({}),
  'a revoked proxy of a list': () => revoked([]),
  'a getter that throws': () => ({
    get role() {
      return boom();
    },
  }),
  'a list with a getter that throws': () =>
    Object.defineProperty([], 0, { get: boom, enumerable: true, configurable: true }),
  'a proxy whose get throws': () => new Proxy({}, { get: boom }),
  'a proxy whose has throws': () => new Proxy({}, { has: boom }),
  'a proxy whose ownKeys throws': () => new Proxy({}, { ownKeys: boom }),
  'a proxy whose getOwnPropertyDescriptor throws': () =>
    new Proxy({ role: 'user' }, { getOwnPropertyDescriptor: boom }),
  'a proxy whose getPrototypeOf throws': () => new Proxy({}, { getPrototypeOf: boom }),
  'a list whose every trap throws': () =>
    new Proxy([{}], { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom }),
  'a proxy that throws what cannot be read': () =>
    new Proxy([], {
      get: () => {
        throw revoked({});
      },
      ownKeys: () => {
        throw revoked({});
      },
    }),
};

const kernel = createKernel();

/** The path of each value in a payload, fields that its sample lacks included. */
function* paths(value: unknown, path: Path): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* paths(inner, [...path, key]);
}

/** A copy of a value, with another value at one path. */
function replaced(value: unknown, [key, ...rest]: Path, property: PropertyDescriptor): unknown {
  if (key === undefined) return property.value;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const inner = (value as Readonly<Record<string, unknown>>)[key];
  const own = { enumerable: true, configurable: true };
  return Object.defineProperty(
    copy,
    key,
    rest.length === 0
      ? { ...property, ...own }
      : { value: replaced(inner, rest, property), ...own },
  );
}

/** What is wrong with the answer to a payload that has a hostile value at a path; nothing where it is right. */
function complaint(family: Family, payload: unknown, path: Path): string | undefined {
  const [field = ''] = path;
  const of = `${family} at /${path.join('/')}`;
  let taken: object;
  try {
    taken = kernel.parsePayload(family, payload);
  } catch (error) {
    if (!isSluiceError(error)) return `${of} threw ${Object.prototype.toString.call(error)}`;
    const { family: whose, path: at } = error.details;
    const isTold = whose === family && String(at).startsWith(`/${field}`);
    return isTold && error.hint !== '' ? undefined : `${of} was told as: ${error.message}`;
  }
  const shared = canonicalStages.find((one) => one.family === family)?.shared ?? [];
  const owned = Object.entries(taken).filter(([name]) => !shared.includes(name));
  return isReadable(owned) ? undefined : `${of} was taken, and cannot be read`;
}

function isReadable(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== '';
  } catch {
    return false;
  }
}

describe('fault 14: a payload of any family that cannot be read is a typed error', () => {
  const values = Object.entries(hostile).map(
    ([name, make]) => [name, (): PropertyDescriptor => ({ value: make() })] as const,
  );

  it.each([...values, ['an accessor', (): PropertyDescriptor => ({ get: boom })] as const])(
    'L4: %s in any field, or in a part of it, is named with its field (§1.4, §1.7)',
    (_name, make) => {
      const complaints = canonicalStages.flatMap(({ family: name, payload }) => {
        const family = name as Family; // the catalog's own
        const sample = samplePayloads[family]();
        const all = new Map<string, Path>();
        for (const field of Object.keys(payload.properties)) all.set(field, [field]);
        for (const path of paths(sample, [])) all.set(path.join('/'), path);
        return [...all.values()].flatMap(
          (path) => complaint(family, replaced(sample, path, make()), path) ?? [],
        );
      });
      expect(complaints).toEqual([]);
    },
  );
});
