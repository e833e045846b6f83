import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { defineStage, type PatchLaw, type Stage } from '../../src/kernel/internal.js';
import { gist, labKernel } from '../support/kernel-lab.js';

const words = Type.Array(Type.String());
const record = Type.Unsafe({ type: 'object', additionalProperties: Type.String() });

/** Kinds of fields: the payload's schema, the patch's where it is another, and the laws that suit them. */
const kinds: readonly {
  readonly payload: TSchema;
  readonly patch?: TSchema;
  readonly laws: readonly PatchLaw[];
}[] = [
  { payload: Type.String(), laws: ['replace', 'first-defined', 'append-text', 'prepend-text'] },
  { payload: Type.Union([Type.String(), Type.Null()]), laws: ['replace', 'append-text'] },
  {
    payload: Type.String({ maxLength: 3 }),
    patch: Type.String(),
    laws: ['replace', 'append-text'],
  },
  { payload: Type.Boolean(), laws: ['replace', 'first-defined'] },
  { payload: Type.Integer({ minimum: 0 }), laws: ['replace', 'first-defined'] },
  { payload: words, laws: ['replace', 'append', 'first-defined'] },
  {
    payload: Type.Array(Type.String(), { maxItems: 2 }),
    patch: words,
    laws: ['append', 'replace'],
  },
  { payload: record, laws: ['merge-keys', 'replace'] },
  { payload: Type.Unknown(), laws: ['replace', 'first-defined'] },
];

const names = fc.constantFrom('a', 'b', 'c', 'x-y', 'q"q', '0', '7', 'd', 'e');
const row = fc.record({
  name: names,
  kind: fc.constantFrom(...kinds),
  law: fc.nat(),
  trusted: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const rows = fc.uniqueArray(row, { selector: ({ name }) => name, minLength: 1, maxLength: 7 });

type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function stageOf(list: readonly Row[]): Stage {
  const payload: Record<string, TSchema> = {};
  const patch: Record<string, TSchema> = {};
  const laws: Record<string, PatchLaw> = {};
  for (const { name, kind, law } of list) {
    payload[name] = Type.Optional(kind.payload);
    patch[name] = Type.Optional(kind.patch ?? kind.payload);
    laws[name] = kind.laws[law % kind.laws.length] as PatchLaw;
  }
  return defineStage({
    family: 'lab.random',
    classes: ['mutator'],
    mode: 'sync-sequential',
    payload: Type.Object(payload),
    patch: Type.Object(patch),
    laws,
    trusted: list.filter(({ trusted }) => trusted).map(({ name }) => name),
  });
}

const value = fc.constantFrom<() => unknown>(
  () => '',
  () => 'xy',
  () => true,
  () => false,
  () => 0,
  () => 3,
  () => -1,
  () => null,
  () => undefined,
  () => [],
  () => ['w'],
  () => ['v', 'w'],
  () => ({}),
  () => ({ k: 'v', constructor: 'c' }),
  () => ({ k: 1 }),
  () => new Date(0),
  () => () => 'function',
);

const fits: readonly ((kind: TSchema) => unknown)[] = [
  (kind) => (kind === record ? { k: 'old' } : undefined),
  (kind) => ((kind as { type?: string }).type === 'string' ? 'old' : undefined),
  (kind) => ((kind as { type?: string }).type === 'array' ? ['old'] : undefined),
  (kind) => ((kind as { type?: string }).type === 'boolean' ? true : undefined),
];

/** What a patch is made as: mostly a plain object. The others are refused as a whole, but for one without a prototype. */
const form = fc.oneof(
  { arbitrary: fc.constant((plain: object): object => plain), weight: 8 },
  fc.constantFrom<(plain: object) => object>(
    (plain) => Object.assign(Object.create(null) as object, plain),
    (plain) => Object.assign(new (class Patch {})(), plain),
    (plain) => Object.assign([], plain),
  ),
);

const cases = rows.chain((list) => {
  const keys = fc.constantFrom(...list.map(({ name }) => name), 'undeclared');
  const patch = fc.uniqueArray(fc.tuple(keys, value), { selector: ([key]) => key, maxLength: 5 });
  const rarely = patch.map((pairs) => pairs.filter(([key], i) => key !== 'undeclared' || i === 2));
  return fc.record({
    list: fc.constant(list),
    emitted: fc.array(fc.boolean(), { minLength: list.length, maxLength: list.length }),
    patches: fc.array(fc.record({ pairs: rarely, form }), { maxLength: 4 }),
  });
});

describe('the generated merge', () => {
  it('equals the reference, over any schema and any patches, key order included (§6.1–6.7)', () => {
    fc.assert(
      fc.property(cases, ({ list, emitted, patches }) => {
        const stage = stageOf(list);
        const results = [true, false].map((generateCode) => {
          const lab = labKernel([stage], { generateCode, trace: true });
          patches.forEach(({ pairs, form: made }, i) => {
            lab.contribute({
              family: 'lab.random',
              class: 'mutator',
              extensionId: 'x',
              id: `m${i}`,
              handler: () => made(Object.fromEntries(pairs.map(([key, make]) => [key, make()]))),
            });
          });
          const payload: Record<string, unknown> = {};
          list.forEach(({ name, kind }, i) => {
            const given = fits.map((make) => make(kind.payload)).find((one) => one !== undefined);
            if (emitted[i] === true && given !== undefined) payload[name] = given;
          });
          const outcome = lab.dispatchSync('lab.random', payload);
          return { gist: gist(outcome), keys: Object.keys(outcome.payload) };
        });
        expect(results[0]).toEqual(results[1]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('writes the fields of a patch in their order, not in that of the stage (§6.1)', () => {
    const fields = { a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) };
    const stage = defineStage({
      family: 'lab.order',
      classes: ['mutator'],
      mode: 'sync-sequential',
      payload: Type.Object(fields),
      patch: Type.Object(fields),
      laws: { a: 'replace', b: 'replace' },
    });
    for (const generateCode of [true, false]) {
      const lab = labKernel([stage], { generateCode });
      lab.contribute({
        family: 'lab.order',
        class: 'mutator',
        extensionId: 'x',
        id: 'm',
        handler: () => ({ b: '1', a: '2' }),
      });
      const { payload, changes } = lab.dispatchSync('lab.order', {});
      expect(Object.keys(payload)).toEqual(['b', 'a']);
      expect(changes.map(({ path }) => path)).toEqual(['b', 'a']);
    }
  });
});
