import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainShape, plainShapes, Shapes } from '../../../src/kernel/merge/copy.js';
import { canGenerateCode, generatedShape } from '../../../src/kernel/merge/generated.js';

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

const makers = [generatedShape, plainShape];

/** Ways to write an object that show on it; each leaves a mark. */
const writes = fc.constantFrom<(target: Record<string, unknown>, key: string) => void>(
  (target, key) => {
    target[key] = 'written';
  },
  (target) => {
    target.planted = undefined;
  },
  (target, key) => {
    delete target[key];
  },
  (target, key) => {
    delete target[key];
    target.planted = undefined;
  },
  (target, key) => void Object.defineProperty(target, key, { get: () => 'another' }),
  (target, key) => void Object.defineProperty(target, key, { enumerable: false }),
  (target) => void Object.setPrototypeOf(target, { planted: true }),
  (target) => void Object.setPrototypeOf(target, null),
);

describe('a copy', () => {
  it('has the keys, their order and the values of its source, generated or not (§6.5)', () => {
    const shapes = new Shapes(generatedShape);
    fc.assert(
      fc.property(sources, (source) => {
        for (const shape of [shapes.of(source), plainShape(Object.keys(source))]) {
          const copy = shape.copy(source);
          expect(Object.keys(copy)).toEqual(Object.keys(source));
          for (const key of Object.keys(source)) expect(copy[key]).toBe(source[key]);
          expect(Object.isFrozen(copy) && Object.keys(copy).length > 0).toBe(false);
          expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
          expect(shape.isSame(copy, source)).toBe(true);
        }
      }),
    );
  });

  it('that was written is not the same any more, however it was written (§5.7)', () => {
    fc.assert(
      fc.property(sources, writes, fc.nat(), (source, write, nth) => {
        const keys = Object.keys(source);
        if (keys.length === 0) return;
        for (const make of makers) {
          const shape = make(keys);
          const copy = shape.copy(source);
          write(copy, keys[nth % keys.length] as string);
          expect(shape.isSame(copy, source), make.name).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of an own __proto__ is an own __proto__, and no prototype (§6.3)', () => {
    const source = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object;
    for (const make of makers) {
      const copy = new Shapes(make).of(source).copy(source);
      expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
      expect(Object.keys(copy)).toEqual(['__proto__', 'a']);
    }
  });

  it('is by a function of its shape, the same for the same shape', () => {
    const shapes = new Shapes(generatedShape);
    expect(shapes.of({ a: 1, b: 2 })).toBe(shapes.of({ a: 3, b: 4 }));
    expect(shapes.of({ a: 1, b: 2 })).not.toBe(shapes.of({ b: 2, a: 1 }));
    expect(shapes.of({ a: 1, b: 2 })).not.toBe(shapes.of({ a: 1 }));
  });

  it('of a stage that meets many shapes is by the reference, so that memory is bounded', () => {
    const made: string[][] = [];
    const shapes = new Shapes((keys) => {
      made.push([...keys]);
      return generatedShape(keys);
    });
    for (let i = 0; i < 40; i++) shapes.of({ [`k${i}`]: i });
    expect(made).toHaveLength(16);
    shapes.of({ k0: 1 });
    expect(made).toHaveLength(16);
  });

  it('is by the reference where code is not to be generated', () => {
    expect(plainShapes.of({ a: 1 }).copy({ a: 1 })).toEqual({ a: 1 });
    expect(canGenerateCode()).toBe(true);
  });
});
