import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyPlain } from '../../../src/kernel/value/copy-plain.js';

function copied(root: object, shared: readonly string[] = []): object {
  const taken = copyPlain(root, shared);
  if (!('copy' in taken)) throw new Error(`${taken.path}: ${taken.problem}`);
  return taken.copy;
}

function problemOf(root: object): string {
  const taken = copyPlain(root);
  return 'copy' in taken ? 'none' : `${taken.path}: ${taken.problem}`;
}

function isDeeplyFrozen(root: object): boolean {
  const seen = new Set([root]);
  for (const node of seen)
    for (const value of Object.values(node) as unknown[])
      if (typeof value === 'object' && value !== null) seen.add(value);
  return [...seen].every(Object.isFrozen);
}

const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__'));

const plain = fc.oneof(
  fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    json,
  ),
  fc.array(json),
  fc.sparseArray(fc.constantFrom<unknown>(1n, -0, Number.NaN, '\ud800', undefined, null)),
);

describe('a copy of a value from outside', () => {
  it('equals it, is frozen in depth, and leaves the original open (§1.4, §1.5)', () => {
    fc.assert(
      fc.property(plain, (root) => {
        const copy = copied(root);
        expect(copy).toStrictEqual(root);
        expect(copy).not.toBe(root);
        expect(isDeeplyFrozen(copy)).toBe(true);
        if (Object.keys(root).length > 0) expect(Object.isFrozen(root)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps holes, -0, a missing prototype, cycles and shared parts as they are (§1.6)', () => {
    const part = { n: -0 };
    const list: unknown[] = [1];
    list[2] = part;
    const root: Record<string, unknown> = { list, part, bare: Object.create(null) };
    root['self'] = root;
    const copy = copied(root) as {
      list: unknown[];
      part: { n: number };
      self: object;
      bare: object;
    };
    expect(copy.self).toBe(copy);
    expect(copy.list[2]).toBe(copy.part);
    expect(1 in copy.list).toBe(false);
    expect(Object.is(copy.part.n, -0)).toBe(true);
    expect(Object.getPrototypeOf(copy.bare)).toBe(null);
  });

  it('cannot be changed by who kept the original (§1.5)', () => {
    const original = { deep: { list: ['a'] } };
    const copy = copied(original);
    original.deep.list.push('b');
    expect(copy).toEqual({ deep: { list: ['a'] } });
  });

  it('has its shared fields by reference (§1.7)', () => {
    const raw = new Map();
    expect(copied({ raw, a: 1 }, ['raw'])).toEqual({ raw, a: 1 });
    expect(problemOf({ inner: { raw } })).toBe(
      '/inner/raw: a Map cannot be frozen; write an object instead',
    );
  });

  it('runs no accessor (§1.6)', () => {
    let reads = 0;
    const root = {
      list: [
        {
          get now() {
            return ++reads;
          },
        },
      ],
    };
    expect(problemOf(root)).toMatch(/^\/list\/0\/now: it is an accessor/);
    expect(reads).toBe(0);
  });

  it('reads each property of a proxy once, and believes its first answer (§1.6)', () => {
    let reads = 0;
    const shifty = new Proxy({ a: 1 } as Record<string, unknown>, {
      getOwnPropertyDescriptor: () => ({
        value: ++reads,
        enumerable: true,
        configurable: true,
        writable: true,
      }),
      get: () => {
        throw new Error('read by get');
      },
    });
    expect(copied({ shifty })).toEqual({ shifty: { a: 1 } });
    expect(reads).toBe(1);
  });

  it.each<[string, object, string]>([
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, '/a: '],
    ['a hidden property', Object.defineProperty({}, 'h', { value: 1 }), '/h: '],
    ['__proto__', JSON.parse('{"a":[{"__proto__":{}}]}') as object, '/a/0/__proto__: '],
    ['a function', { a: () => 1 }, '/a: a function'],
    ['a Date', [new Date(0)], '/0: a Date'],
    ['bytes', { 'a/b': new Uint8Array(1) }, '/a~1b: bytes'],
    ['a class instance', { a: new (class Point {})() }, '/a: an instance'],
    ['an array of a class', { a: new (class List extends Array {})() }, '/a: an instance'],
  ])('refuses %s, with its path (§1.6)', (_, root, told) => {
    expect(problemOf(root)).toContain(told);
  });

  it('refuses what cannot be read: throwing and revoked proxies (§1.6)', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    for (const root of [proxy, { proxy }, throwing, [throwing]])
      expect(problemOf(root)).toMatch(/cannot be read|instance of a class/);
  });

  it('takes 512 levels and refuses more, also 20,000 (§1.6)', () => {
    const nested = (levels: number): object => {
      let value: object = {};
      for (let i = 0; i < levels; i++) value = { inner: value };
      return value;
    };
    expect(problemOf(nested(512))).toBe('none');
    expect(problemOf(nested(513))).toMatch(/deeper than 512/);
    expect(problemOf(nested(20_000))).toMatch(/deeper than 512/);
  });

  it('takes a ladder of shared parts, 2^60 ways down, in 60 steps (§1.6)', () => {
    let ladder: object = {};
    for (let i = 0; i < 60; i++) ladder = { left: ladder, right: ladder };
    expect(problemOf(ladder)).toBe('none');
  });
});
