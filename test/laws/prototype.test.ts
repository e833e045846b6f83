import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { contributor, createLab } from '../support/kernel-lab.js';
import { labPatch } from '../support/kernel-stages.js';

const declared = Object.keys(labPatch.properties);
const before = Reflect.ownKeys(Object.prototype);
const long = Array.from({ length: 10_000 }, () => 'a').join('/');

const hostileKey = fc.constantFrom<string | symbol>(
  '__proto__',
  'constructor',
  'prototype',
  'constructor.prototype',
  '0',
  '-',
  '~0',
  '~1',
  '/__proto__/polluted',
  long,
  Symbol.iterator,
  Symbol('hidden'),
  Symbol.toStringTag,
);

const own = (pairs: readonly (readonly [PropertyKey, unknown])[]): object => {
  const made = {};
  for (const [key, value] of pairs)
    Object.defineProperty(made, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return made;
};

const hostile = fc.letrec<{ value: unknown; bag: object }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constantFrom<unknown>('x', 1, null, true), tie('bag')),
  bag: fc
    .array(fc.tuple(fc.oneof(hostileKey, fc.constantFrom('polluted', 'toString')), tie('value')), {
      maxLength: 4,
    })
    .map(own),
})).bag;

const good = fc.constantFrom(...declared);
const patches = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 2, arbitrary: good }, { weight: 1, arbitrary: hostileKey }),
      fc.oneof(hostile, fc.constant('x')),
    ),
    {
      maxLength: 5,
    },
  )
  .map(own);

afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  expect(Reflect.get({}, 'polluted')).toBe(undefined);
});

describe('a patch', () => {
  it.each([true, false])(
    'cannot reach a prototype, whatever its keys (§6.3), generateCode: %s',
    (generateCode) => {
      fc.assert(
        fc.property(patches, fc.array(patches, { maxLength: 2 }), (first, more) => {
          const { kernel } = createLab({ generateCode });
          const add = contributor(kernel, 'lab.sync');
          [first, ...more].forEach((patch, i) => {
            add('mutator', `m${i}`, () => patch);
          });
          const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
          const payload = outcome.payload as Record<string, unknown>;
          expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
          expect(Reflect.ownKeys(payload).filter((key) => !declared.includes(String(key)))).toEqual(
            [],
          );
          const headers = payload['headers'];
          if (typeof headers === 'object' && headers !== null)
            expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
          expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
          for (const failure of outcome.failures) {
            expect(failure.kind).toMatch(/^(bad-output|untrusted)$/);
            expect(failure.message.length).toBeLessThanOrEqual(300);
          }
        }),
        { numRuns: 200 },
      );
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', 'toString', '0', '-', '~0', long])(
    'with the key %.20s is bad output, and nothing of it is applied (§6.3)',
    (key) => {
      const { kernel } = createLab();
      contributor(kernel, 'lab.sync')('mutator', 'm', () =>
        own([
          ['title', 'lost'],
          [key, {}],
        ]),
      );
      const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
      expect(outcome.failures.map(({ kind }) => kind)).toEqual(['bad-output']);
      expect(outcome.payload).toEqual({ title: 'hello' });
    },
  );

  it('names the declared keys in a sentence of their own if none is near (§6.3)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')('mutator', 'm', () => ({ nothingLikeIt: 'x' }));
    const [failure] = kernel.dispatchSync('lab.sync', { title: 'hello' }).failures;
    expect(failure?.message).toContain('"nothingLikeIt" is not declared. It may have: ');
  });

  it('names the nearest declared key (§6.3)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')('mutator', 'm', () => ({ titel: 'x' }));
    const [failure] = kernel.dispatchSync('lab.sync', { title: 'hello' }).failures;
    expect(failure?.message).toMatch(/"titel" is not declared; did you mean "title"\?/);
  });

  it('has symbol keys that are not part of it, and inherited or hidden ones neither (§6.3)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', () => ({ title: 'new', [Symbol('s')]: 1 }));
    add(
      'mutator',
      'b',
      () => Object.create({ title: 'inherited' }, { count: { value: 1 } }) as object,
    );
    const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
    expect(outcome.payload).toEqual({ title: 'new' });
    expect(Object.getOwnPropertySymbols(outcome.payload)).toEqual([]);
  });

  it('has each property read once (§6.4)', () => {
    const { kernel } = createLab();
    const reads: string[] = [];
    const patch = new Proxy(
      { title: 'new', outro: 'end', tags: ['t'] },
      {
        get: (target, key) => {
          reads.push(String(key));
          return Reflect.get(target, key) as unknown;
        },
      },
    );
    contributor(kernel, 'lab.sync')('mutator', 'm', () => patch);
    const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
    expect(outcome.payload).toEqual({ title: 'new', outro: 'end', tags: ['t'] });
    expect(reads.filter((key) => key !== 'then').sort()).toEqual(['outro', 'tags', 'title']);
  });

  it('holds no accessor below its own keys (§1.6)', () => {
    const { kernel } = createLab();
    const body = {
      get lines() {
        return ['x'];
      },
    };
    contributor(kernel, 'lab.sync')('mutator', 'm', () => ({ title: 'lost', body }));
    const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
    expect(outcome.failures.map(({ kind }) => kind)).toEqual(['bad-output']);
    expect(outcome.payload).toEqual({ title: 'hello' });
  });
});
