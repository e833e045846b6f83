import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Copier, spreadCopy } from '../../src/kernel/merge/copy.js';
import { canGenerateCode, generatedCopy } from '../../src/kernel/merge/generated.js';

const odd = fc.constantFrom(
  'constructor',
  'toString',
  'a"b',
  "a'b",
  'a\\b',
  'a\nb',
  '\u2028',
  '`$',
  '0',
  '',
  '-',
  '\ud800',
);
const keys = fc.uniqueArray(fc.oneof(fc.string(), odd), { maxLength: 8 });
const sources = fc.tuple(keys, fc.boolean()).map(([names, freeze]) => {
  const source: Record<string, unknown> = {};
  for (const name of names)
    Object.defineProperty(source, name, {
      value: { name },
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return freeze ? Object.freeze(source) : source;
});

describe('a copy', () => {
  it('has the keys, their order and the values of its source, generated or not (§6.5)', () => {
    const copier = new Copier(generatedCopy);
    fc.assert(
      fc.property(sources, (source) => {
        for (const copy of [copier.for(source)(source), spreadCopy(source)]) {
          expect(Object.keys(copy)).toEqual(Object.keys(source));
          for (const key of Object.keys(source)) expect(copy[key]).toBe(source[key]);
          expect(Object.isFrozen(copy) && Object.keys(copy).length > 0).toBe(false);
          expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
        }
      }),
    );
  });

  it('of an own __proto__ is an own __proto__, and no prototype (§6.3)', () => {
    const source = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object;
    for (const make of [generatedCopy, undefined]) {
      const copy = new Copier(make).for(source)(source);
      expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
      expect(Object.keys(copy)).toEqual(['__proto__', 'a']);
    }
  });

  it('is by a function of its shape, the same for the same shape', () => {
    const copier = new Copier(generatedCopy);
    expect(copier.for({ a: 1, b: 2 })).toBe(copier.for({ a: 3, b: 4 }));
    expect(copier.for({ a: 1, b: 2 })).not.toBe(copier.for({ b: 2, a: 1 }));
  });

  it('of a stage that meets many shapes is by the spread, so that memory is bounded', () => {
    const copier = new Copier(generatedCopy);
    const made = Array.from({ length: 40 }, (_, i) => copier.for({ [`k${i}`]: i }));
    expect(made.at(-1)).toBe(spreadCopy);
    expect(copier.for({ k0: 1 })).toBe(made[0]);
  });

  it('is by the spread where code is not to be generated', () => {
    expect(new Copier().for({ a: 1 })).toBe(spreadCopy);
    expect(canGenerateCode()).toBe(true);
  });
});
