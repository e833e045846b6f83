import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromJsonSchema } from '../../../src/sdk/extension/index.js';
import { fixSchema } from '../../../src/sdk/stream/internal.js';

const of = (field: unknown, more: object = {}) => ({
  type: 'object',
  properties: { a: field },
  ...more,
});
const judge = (schema: object, value: unknown) =>
  fromJsonSchema(fixSchema(schema as Record<string, unknown>).schema)['~standard'].validate(value);

describe('a schema that cannot be used as it is (event pipeline §16.30)', () => {
  it.each<[string, object, string]>([
    ['a needless escape', of({ pattern: '^\\-x' }), '/properties/a/pattern'],
    ['a pattern of Python', of({ pattern: '(?P<year>\\d+)' }), '/properties/a/pattern'],
    ['a pattern that is no text', of({ pattern: 5 }), '/properties/a/pattern'],
    [
      'a pattern of names',
      { type: 'object', patternProperties: { '[': {}, '^x': {} } },
      '/patternProperties',
    ],
    [
      'a pattern deep inside',
      of({ items: { anyOf: [{ not: { pattern: '[' } }] } }),
      '/not/pattern',
    ],
    ['a reference to nothing', of({ $ref: '#/$defs/Gone' }), '/properties/a/$ref'],
    ['a reference to the web', of({ $ref: 'https://acme.example/a.json' }), '/properties/a/$ref'],
    ['an anchor that is not there', of({ $ref: '#gone' }), '/properties/a/$ref'],
    ['a reference that is badly encoded', of({ $ref: '#/%' }), '/properties/a/$ref'],
    ['a type that there is not', of({ type: 'str' }), '/properties/a/type'],
    ['no list of needed fields', of({}, { required: null }), '/required'],
    ['a needed field by a flag', of({ required: true }), '/properties/a/required'],
    ['the fields as an empty list', { type: 'object', properties: [] }, '/properties'],
    ['a field without a schema', of(null), '/properties/a'],
    ['a field whose schema is a text', of('string'), '/properties/a'],
    ['no choices', of({ enum: [] }), '/properties/a/enum'],
    ['no variants', of({ anyOf: [] }), '/properties/a/anyOf'],
    ['a variant that is none', of({ oneOf: [null] }), '/properties/a/oneOf'],
    ['a description of null', of({ description: null }), '/properties/a/description'],
    ['a length as a text', of({ minLength: '2' }), '/properties/a/minLength'],
    ['items of null', of({ items: null }), '/properties/a/items'],
    ['surplus fields by null', of({}, { additionalProperties: null }), '/additionalProperties'],
    ['a keyword of nobody with null', of({ 'x-order': null }), '/properties/a/x-order'],
  ])('with %s loses that keyword alone, and the others judge', (_, given, place) => {
    const before = JSON.stringify(given);
    const schema = { ...given, allOf: [{ maxProperties: 1 }] };
    const { lost } = fixSchema(schema);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain(place);
    expect(judge(schema, { a: {} })).toEqual({ value: { a: {} } });
    expect(judge(schema, { a: {}, b: 1 })).toHaveProperty('issues');
    expect(JSON.stringify(given)).toBe(before);
  });

  it.each<[string, object]>([
    ['a format that nobody knows', of({ type: 'string', format: 'phone-of-acme' })],
    ['a dialect that nobody knows', of({}, { $schema: 'https://acme.example/dialect' })],
    [
      'null as a constant, a choice and a default',
      of({ const: null, enum: [null], default: null }),
    ],
    ['a reference by pointer', of({ $ref: '#/$defs/a~1b' }, { $defs: { 'a/b': true } })],
    ['a reference by an escaped pointer', of({ $ref: '#/$defs/a%20b' }, { $defs: { 'a b': {} } })],
    ['a reference to itself', of({ $ref: '#' })],
    ['an anchor', of({ $ref: '#here' }, { $defs: { b: { $anchor: 'here' } } })],
    ['an id', of({ $ref: 'b.json' }, { $defs: { b: { $id: 'b.json' } } })],
    ['the words of older drafts', of({ exclusiveMinimum: true, minimum: 1, nullable: true })],
  ])('is none with %s: it stays as it is', (_, schema) => {
    expect(fixSchema(schema as Record<string, unknown>)).toEqual({ schema, lost: [] });
    expect(fixSchema(schema as Record<string, unknown>).schema).toBe(schema);
  });

  it('takes any arguments if it is too deep to be read', () => {
    let schema: Record<string, unknown> = {};
    for (let depth = 0; depth < 50_000; depth++) schema = { not: schema };
    expect(fixSchema(schema)).toMatchObject({ schema: { type: 'object' }, lost: [/./] });
  });

  it('never fails, and what is left has nothing to lose, whatever was given', () => {
    const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), tie('schema')),
      schema: fc.dictionary(
        fc.constantFrom(
          ...['type', 'properties', 'required', 'items', 'anyOf', 'allOf', '$ref', '$defs', 'enum'],
          ...['pattern', 'patternProperties', 'not', 'if', 'format', 'minLength', '__proto__'],
        ),
        fc.oneof(
          tie('value'),
          fc.constantFrom('#/$defs/type', '#', '[', '\\-', 'object', null),
          fc.array(tie('value'), { maxLength: 2 }),
          fc.dictionary(fc.constantFrom('type', '[', 'b'), tie('value')),
        ),
        { maxKeys: 4 },
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        const before = JSON.stringify(given);
        const fixed = fixSchema(given as Record<string, unknown>);
        expect(JSON.stringify(given)).toBe(before);
        const again = fixSchema(structuredClone(fixed.schema));
        expect(again.lost.filter((one) => !one.includes('$ref'))).toEqual([]); // its target may have been lost
      }),
      { numRuns: 500 },
    );
  });
});
