import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../../src/kernel/catalog/index.js';
import { compileCheck, unknownKeyword } from '../../../src/kernel/schema/check.js';
import type { Schema } from '../../../src/kernel/schema/schema.js';
import { labAnnotations, labPatch, labPayload } from '../../support/kernel-stages.js';

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, '', 'a', 0, -1, 1.5, Number.NaN, Infinity, {}),
  fc.array(fc.constantFrom<unknown>('a', 1, null), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('id', 'kind', 'x'), fc.constantFrom<unknown>('a', 1, null)),
);

/** Values that mostly fit a schema, and junk at any depth. */
function near(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 60, arbitrary: fitting(schema) }, { weight: 1, arbitrary: junk });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(near));
  switch (schema.type) {
    case 'string':
      return fc.constantFrom('', 'a', 'ab', 'abc', '\u{1F600}');
    case 'number':
      return fc.constantFrom(1, 0, 0.5, 1e300);
    case 'integer':
      return fc.constantFrom(1, 2, 2 ** 53);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(near(schema.items ?? {}), { maxLength: 4 });
    case 'object': {
      const fields = Object.entries(schema.properties ?? {});
      const known = fc.record(
        Object.fromEntries(fields.map(([name, field]) => [name, near(field)])),
        { requiredKeys: fc.sample(fc.constant(schema.required ?? []), 1)[0] as string[] },
      );
      const surplus = fc.oneof(
        { weight: 30, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('surplus', 'x/y~z'), junk) },
      );
      return fc.tuple(known, surplus).map(([one, other]) => ({ ...one, ...other }));
    }
    default:
      return junk;
  }
}

const bounds: readonly Schema[] = [
  { type: 'string', minLength: 1, maxLength: 2 },
  { type: 'string', pattern: '^a' },
  { type: 'number', minimum: 0, maximum: 1 },
  { type: 'integer', minimum: 1 },
  { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
  { type: 'object', properties: { a: {} }, minProperties: 1 },
  { type: 'object', additionalProperties: { anyOf: [{ type: 'null' }, { type: 'string' }] } },
  { const: 'a' },
  { enum: ['a', 1, null] },
];

const schemas: readonly (readonly [string, Schema])[] = [
  ...canonicalStages.flatMap((stage) =>
    (['payload', 'patch', 'annotations', 'selection'] as const).flatMap((part) => {
      const schema = stage[part] as Schema | undefined; // no canonical one is a Standard Schema
      return schema === undefined ? [] : [[`${stage.family} ${part}`, schema] as const];
    }),
  ),
  ...[labPayload, labPatch, labAnnotations].map((one, at) => [`lab ${at}`, one] as const),
  ...bounds.map((one) => [JSON.stringify(one), one] as const),
];

describe('the check of a schema (§1.4, §2.1)', () => {
  it.each(schemas)('of %s gives the verdicts of TypeBox', (_, schema) => {
    const check = compileCheck(schema);
    const other = Compile(schema);
    let fits = 0;
    fc.assert(
      fc.property(near(schema), (value) => {
        const misfit = check(value);
        if (misfit === undefined) fits++;
        expect(misfit === undefined).toBe(other.Check(value));
      }),
      { numRuns: 150 },
    );
    expect(fits).toBeGreaterThan(0); // or it would be compared on junk alone
  });

  it('names the place and the surplus key', () => {
    const text = { type: 'string' } as const;
    const item = { type: 'object', required: ['a/b'], properties: { 'a/b': text } } as const;
    const check = compileCheck({
      type: 'object',
      properties: { list: { type: 'array', items: { ...item, additionalProperties: false } } },
    });
    expect(check({ list: [{ 'a/b': 1 }] })).toEqual({
      path: '/list/0/a~1b',
      problem: 'must be string',
    });
    expect(check({ list: [{}] })).toMatchObject({
      path: '/list/0',
      problem: 'must have required properties a/b',
    });
    expect(check({ list: [{ 'a/b': '', more: 1 }] })).toMatchObject({
      path: '/list/0',
      surplus: 'more',
    });
  });

  it.each<[string, object]>([
    ['format', { type: 'object', properties: { at: { type: 'string', format: 'date' } } }],
    ['type', { anyOf: [{ type: ['string', 'null'] }] }],
    ['minimum', { type: 'array', items: { type: 'string', minimum: 1 } }],
    ['properties', { properties: {} }],
  ])('refuses the keyword %s where it would not read it', (keyword, schema) => {
    expect(unknownKeyword(schema as Schema)).toBe(keyword);
  });
});
