import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freezePlain } from '../../../src/kernel/value/freeze.js';
import { isPlain, maxDepth } from '../../../src/kernel/value/plain.js';

function nested(levels: number, leaf: object = {}): object {
  let value = leaf;
  for (let i = 0; i < levels; i++) value = { inner: value };
  return value;
}

/** Every object that can be reached from a value. */
function reach(root: object): Set<object> {
  const seen = new Set([root]);
  for (const node of seen)
    for (const key of Reflect.ownKeys(node)) {
      const value: unknown = Reflect.get(node, key);
      if (typeof value === 'object' && value !== null) seen.add(value);
    }
  return seen;
}

const isDeeplyFrozen = (root: object): boolean => [...reach(root)].every(Object.isFrozen);

const plain = fc.letrec<{ tree: unknown; node: object }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small', maxDepth: 5 }, fc.jsonValue(), fc.bigInt(), tie('node')),
  node: fc.oneof(
    fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: false }),
    fc.array(tie('tree')),
    fc.sparseArray(tie('tree'), { maxNumElements: 3 }),
  ),
})).node;

describe('freezing plain data', () => {
  it('freezes every level in place, and a second time changes nothing (§1.5)', () => {
    fc.assert(
      fc.property(plain, (root) => {
        expect(freezePlain(root, [])).toBe(undefined);
        expect(isDeeplyFrozen(root)).toBe(true);
        expect(freezePlain(root, [])).toBe(undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('changes no value: -0, NaN, undefined, bigints and lone surrogates stay (§1.6)', () => {
    const root = { zero: -0, nan: Number.NaN, nothing: undefined, big: 10n, half: '\ud800' };
    expect(freezePlain(root, [])).toBe(undefined);
    expect(Object.is(root.zero, -0)).toBe(true);
    expect(root).toEqual({
      zero: -0,
      nan: Number.NaN,
      nothing: undefined,
      big: 10n,
      half: '\ud800',
    });
    expect(Object.hasOwn(root, 'nothing')).toBe(true);
  });

  it('takes cycles, also through the root (§1.6)', () => {
    const child: { up?: object; self?: object } = {};
    const root = { child, list: [child] };
    child.up = root;
    child.self = child;
    expect(freezePlain(root, [])).toBe(undefined);
    expect(isDeeplyFrozen(root)).toBe(true);
  });

  it('takes shared parts once, however often they are reached (§1.6)', () => {
    let reads = 0;
    let ladder: object = { leaf: {} };
    for (let i = 0; i < 60; i++) ladder = { left: ladder, right: ladder }; // 2^60 ways down
    const counted = Object.defineProperty({ ladder } as object, 'seen', {
      enumerable: true,
      get: () => ++reads,
    });
    expect(freezePlain(counted, [])).toBe(undefined);
    expect(isDeeplyFrozen(ladder)).toBe(true);
    expect(reads).toBe(1);
  });

  it('reaches the open children of parts that are frozen already (§1.5)', () => {
    const open = { text: 'x', deeper: [{}] };
    const root = { part: Object.freeze({ open, list: Object.freeze([open]) }) };
    expect(freezePlain(Object.freeze(root), [])).toBe(undefined);
    expect(isDeeplyFrozen(root)).toBe(true);
  });

  it('keeps holes in a sparse array (§1.6)', () => {
    const list: unknown[] = [1];
    list[2] = {};
    expect(freezePlain({ list }, [])).toBe(undefined);
    expect(1 in list).toBe(false);
    expect(Object.isFrozen(list[2])).toBe(true);
  });

  it.each([
    ['a list', [{}, {}]],
    ['a list with a name', Object.assign([{}, {}], { more: {} })],
    ['a list of holes with names', Object.assign(new Array<object>(2), { more: {}, yet: {} })],
  ])('reaches all that %s holds (§1.5)', (_, list: object) => {
    expect(freezePlain({ list }, [])).toBe(undefined);
    expect(Object.values(list).every((one) => Object.isFrozen(one))).toBe(true);
  });

  it('takes objects without a prototype, and objects of another realm’s literals (§1.6)', () => {
    expect(isPlain(Object.create(null) as object)).toBe(true);
    const root = { bare: Object.assign(Object.create(null) as object, { inner: {} }) };
    expect(freezePlain(root, [])).toBe(undefined);
    expect(isDeeplyFrozen(root)).toBe(true);
  });
});

class Point {
  x = 1;
}

describe('what cannot be frozen', () => {
  const culprits: readonly (readonly [string, unknown, RegExp])[] = [
    ['Map', new Map(), /Map cannot be frozen/],
    ['Set', new Set(), /Set cannot be frozen/],
    ['Date', new Date(0), /Date cannot be frozen; write a number or a text instead/],
    ['WeakMap', new WeakMap(), /instance of a class/],
    ['a typed array', new Uint8Array(2), /bytes/],
    ['a view', new DataView(new ArrayBuffer(1)), /bytes/],
    ['an ArrayBuffer', new ArrayBuffer(1), /instance of a class/],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1), /instance of a class/],
    ['a function', () => undefined, /function/],
    ['a symbol', Symbol('s'), /symbol/],
    ['a class instance', new Point(), /instance of a class/],
    ['a promise', Promise.resolve(), /instance of a class/],
    ['a RegExp', /x/, /instance of a class/],
    ['an error', new Error('x'), /instance of a class/],
    ['a frozen Date', Object.freeze(new Date(0)), /Date cannot be frozen/],
  ];

  it.each(culprits)('%s is refused, with its path (§1.6)', (_, culprit, problem) => {
    expect(freezePlain({ a: [{ b: 1 }, { c: culprit }] }, [])).toEqual({
      path: '/a/1/c',
      problem: expect.stringMatching(problem) as string,
    });
  });

  it.each(culprits)('%s is refused as the whole payload (§1.6)', (_, culprit) => {
    if (typeof culprit !== 'object' || culprit === null) return;
    expect(freezePlain(culprit, [])?.path).toBe('/');
  });

  it.each(culprits)('%s passes in a shared field (§1.7)', (_, culprit) => {
    const root = { raw: culprit, list: [{}] };
    expect(freezePlain(root, ['raw'])).toBe(undefined);
    expect(Object.isFrozen(root.list[0])).toBe(true);
  });

  it('a shared field is neither frozen nor looked into; one of that name below is (§1.7)', () => {
    const root = { raw: { deep: {} }, other: { raw: {} } };
    expect(freezePlain(root, ['raw'])).toBe(undefined);
    expect([root.raw, root.raw.deep, root.other.raw].map(Object.isFrozen)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('512 levels pass, 513 and 20,000 are refused without exhausting the stack (§1.6)', () => {
    expect(maxDepth).toBe(512);
    expect(freezePlain(nested(512), [])).toBe(undefined);
    expect(freezePlain(nested(513), [])?.problem).toMatch(/deeper than 512/);
    expect(freezePlain(nested(20_000), [])?.problem).toMatch(/deeper than 512/);
  });
});
