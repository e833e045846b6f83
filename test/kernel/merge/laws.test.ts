import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FieldState, lawFunctions, untouched } from '../../../src/kernel/merge/laws.js';
import { patchLaws } from '../../../src/kernel/stage/vocabulary.js';
import { readProjectFile } from '../../support/source-tree.js';

type LawName = keyof typeof lawFunctions;

/** What a law makes of a field when values are written one after the other. */
function write(law: LawName, base: unknown, values: readonly unknown[], separator = '|'): unknown {
  const first: FieldState = untouched(base);
  return values.reduce<FieldState>(
    (state, value) => lawFunctions[law](state, value, separator),
    first,
  ).value;
}

const texts = fc.array(fc.string({ minLength: 1 }), { maxLength: 5 });
const records = fc.dictionary(fc.string(), fc.string());

describe('the law', () => {
  it('replace: the last wins (§6.2)', () => {
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.anything(), { minLength: 1 }), (base, values) => {
        expect(write('replace', base, values)).toBe(values.at(-1));
      }),
    );
  });

  it('first-defined: the first patch beats the emitted value and every later patch (§6.2)', () => {
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.anything(), { minLength: 1 }), (base, values) => {
        expect(write('first-defined', base, values)).toBe(values[0]);
      }),
    );
  });

  it('append: lists grow in run order, and the emitted one is not written (§6.2, §6.5)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer()),
        fc.array(fc.array(fc.integer(), { minLength: 1 })),
        (base, values) => {
          const before = [...base];
          expect(write('append', Object.freeze(base), values)).toEqual([...base, ...values.flat()]);
          expect(base).toEqual(before);
        },
      ),
    );
  });

  it('append: begins a list where there was none (§6.2)', () => {
    expect(write('append', undefined, [['a']])).toEqual(['a']);
    expect(write('append', null, [['a']])).toEqual(['a']);
  });

  it('merge-keys: each key is its last writer’s (§6.2)', () => {
    fc.assert(
      fc.property(records, fc.array(records, { minLength: 1 }), (base, values) => {
        const all = [base, ...values];
        const merged = write('merge-keys', base, values) as Record<string, string>;
        expect(new Set(Object.keys(merged))).toEqual(new Set(all.flatMap(Object.keys)));
        for (const key of Object.keys(merged))
          expect(merged[key]).toBe(all.findLast((one) => Object.hasOwn(one, key))?.[key]);
      }),
    );
  });

  it('merge-keys: a key that is null stays as null (§6.2)', () => {
    expect(write('merge-keys', { a: '1' }, [{ a: null }])).toEqual({ a: null });
  });

  it('prepend-text: pieces in run order, then the emitted text (§6.2)', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), texts, (base, values) => {
        expect(write('prepend-text', base, values)).toBe([...values, base].join('|'));
      }),
    );
  });

  it('append-text: the emitted text, then pieces in run order (§6.2)', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), texts, (base, values) => {
        expect(write('append-text', base, values)).toBe([base, ...values].join('|'));
      }),
    );
  });

  it.each(['prepend-text', 'append-text'] as const)(
    '%s: no separator stands beside an empty text (§6.2)',
    (law) => {
      expect(write(law, '', ['a'])).toBe('a');
      expect(write(law, undefined, ['a'])).toBe('a');
      expect(write(law, 'base', [''])).toBe('base');
    },
  );

  it.each(['prepend-text', 'append-text'] as const)(
    '%s: what was cleared does not come back (§6.1, §6.2)',
    (law) => {
      expect(write(law, 'base', ['a', null])).toBe(null);
      expect(write(law, 'base', ['a', null, 'b'])).toBe('b');
    },
  );

  it.each(patchLaws)('%s: stands in the spec (§6.2)', (law) => {
    const clause = /^6\.2 [\s\S]*?\n\n/m.exec(readProjectFile('spec/event-pipeline.md'))?.[0];
    expect(clause).toContain(`\`${law}\``);
  });

  it.each(patchLaws)('%s: null clears (§6.1)', (law) => {
    expect(write(law, undefined, [null])).toBe(null);
  });

  it.each(patchLaws)('%s: never writes the state it is given (§6.5)', (law) => {
    const states = fc.constantFrom<unknown>(undefined, null, 'base', Object.freeze(['l']), {});
    fc.assert(
      fc.property(states, fc.constantFrom<unknown>(null, 'x', ['y'], { z: 1 }), (base, value) => {
        const state = Object.freeze(untouched(base));
        expect(() => lawFunctions[law](state, value, '|')).not.toThrow();
      }),
    );
  });

  it('once: the first stands (§7.1)', () => {
    expect(write('once', undefined, ['a', 'b'])).toBe('a');
    expect(write('once', 'upstream', ['a'])).toBe('upstream');
    expect(write('once', null, ['a', 'b'])).toBe('a');
  });
});
