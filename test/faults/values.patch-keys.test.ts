import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { faultSample, faultStage } from '../support/faults.js';
import { type Bag, type LabOutcome, labKernel } from '../support/kernel-lab.js';

const declared = Object.keys(faultSample());
const pristine = Object.getOwnPropertyNames(Object.prototype).sort();

/** Keys that have reached a prototype, or a pointer, in some merge of some library. */
const hostileKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'constructor.prototype',
  '__defineGetter__',
  'hasOwnProperty',
  'toString',
  'valueOf',
  '0',
  '-1',
  '-',
  '~0',
  '~1',
  '~0~1',
  '/content',
  'a/b',
  '',
  'tags.color',
  'tags[color]',
  Array.from({ length: 10_000 }, () => '__proto__').join('/'),
  Array.from({ length: 10_000 }, () => 'constructor').join('.'),
];

/** Defines own properties, also `__proto__`, without reading or writing a prototype. */
function bag(entries: readonly (readonly [key: PropertyKey, value: unknown])[]): Bag {
  const made: Bag = {};
  for (const [key, value] of entries)
    Object.defineProperty(made, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return made;
}

async function patched(patch: unknown, generateCode: boolean): Promise<LabOutcome> {
  const stage = faultStage();
  const kernel = labKernel([stage], { generateCode });
  kernel.contribute({ family: stage.family, class: 'mutator', id: 'a', handler: () => patch });
  return kernel.dispatch(stage.family, faultSample());
}

/** What no patch may ever do. */
function expectNoReach(outcome: LabOutcome): void {
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(pristine);
  expect(({} as Bag)['polluted']).toBeUndefined();
  expect(Object.getPrototypeOf(outcome.payload)).toBe(Object.prototype);
  expect(Object.keys(outcome.payload).every((key) => declared.includes(key))).toBe(true);
  const tags = outcome.payload['tags'];
  if (typeof tags === 'object' && tags !== null)
    expect(Object.getPrototypeOf(tags)).toBe(Object.prototype);
}

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted'); // so that one failure stays one failure
});

const values = fc.oneof(
  fc.constant({ polluted: true }),
  fc.constant({ prototype: { polluted: true } }),
  fc.constant('polluted'),
  fc.jsonValue(),
);
const keys = fc.oneof(fc.constantFrom(...hostileKeys), fc.string(), fc.constantFrom(...declared));

describe('fault 13: hostile patch keys -> refused, or own declared properties only', () => {
  it.each([true, false])(
    'P: any keys at the top, with generated code: %s',
    async (generateCode) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(keys, values), { maxLength: 4 }), async (entries) => {
          const patch = bag(entries);
          const outcome = await patched(patch, generateCode);
          expectNoReach(outcome);
          const undeclared = Object.keys(patch).filter((key) => !declared.includes(key));
          if (undeclared.length === 0) return;
          expect(outcome.failures).toHaveLength(1); // §6.3, and all or nothing by §6.1
          expect(outcome.payload).toBe(outcome.event['payload']);
        }),
      );
    },
  );

  it.each([true, false])(
    'P: any keys inside a record, with generated code: %s',
    async (generate) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(keys, values), { maxLength: 4 }), async (entries) => {
          const inner = bag(entries);
          const outcome = await patched({ tags: inner }, generate);
          expectNoReach(outcome);
          if (outcome.failures.length > 0) {
            expect(outcome.failures[0]?.message).toContain('/__proto__'); // no other key is a reason
            expect(outcome.payload).toBe(outcome.event['payload']);
            return;
          }
          const tags = outcome.payload['tags'] as Bag;
          const expected = { color: 'red', ...inner };
          expect(Object.keys(tags)).toEqual(Object.keys(expected));
          for (const key of Object.keys(inner))
            expect(Object.getOwnPropertyDescriptor(tags, key)?.value).toEqual(
              Object.getOwnPropertyDescriptor(inner, key)?.value,
            );
        }),
      );
    },
  );

  it.each(hostileKeys.slice(0, 19))('names "%s" as undeclared (§6.3)', async (key) => {
    const outcome = await patched(bag([[key, { polluted: true }]]), true);
    expect(outcome.failures).toMatchObject([{ kind: 'bad-output' }]);
    expect(outcome.failures[0]?.message).toContain(`"${key}" is not declared`);
  });

  it('a key of 10,000 segments is named in one bounded line (§5.3)', async () => {
    for (const key of hostileKeys.slice(19)) {
      const outcome = await patched(bag([[key, 1]]), true);
      expect(outcome.failures[0]?.kind).toBe('bad-output');
      expect(outcome.failures[0]?.message.length).toBeLessThanOrEqual(300);
    }
  });

  it('symbol keys are no part of a patch (§6.3)', async () => {
    const outcome = await patched(
      bag([
        [Symbol.iterator, 1],
        ['content', 'x'],
      ]),
      true,
    );
    expect(outcome.payload['content']).toBe('x');
    expect(Object.getOwnPropertySymbols(outcome.payload)).toEqual([]);
    expect((await patched(bag([[Symbol('only'), 1]]), true)).changes).toEqual([]);
  });

  it('keys that are inherited, or not enumerable, do not count (§6.3)', async () => {
    const inherited = Object.create({ content: 'inherited' }) as Bag;
    const hidden = Object.defineProperty({}, 'content', { value: 'hidden', enumerable: false });
    for (const patch of [inherited, hidden]) {
      const outcome = await patched(patch, true);
      expect(outcome.payload['content']).toBe('emitted');
      expect(outcome.changes).toEqual([]);
    }
  });

  it('a class instance is no plain object, whatever its own keys (§1.6, §6.1)', async () => {
    class Patch {
      content = 'from an instance';
    }
    const outcome = await patched(new Patch(), true);
    expect(outcome.failures).toMatchObject([{ kind: 'bad-output' }]);
    expect(outcome.payload['content']).toBe('emitted');
  });

  it('an undeclared key gets its nearest declared one named (§6.3)', async () => {
    const outcome = await patched({ contnet: 'x' }, true);
    expect(outcome.failures[0]?.message).toContain('did you mean "content"?');
  });
});
