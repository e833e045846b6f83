import { step } from '../value/plain.js';
import type { Schema } from './schema.js';

type SchemaType = NonNullable<Schema['type']>;

/** A mistake in a value, with its place as a JSON pointer. */
export interface Misfit {
  readonly path: string;
  readonly problem: string;
  /** The key that no field has. */
  readonly surplus?: string;
}

/** Says why a value does not fit a schema, or nothing. */
export type Check = (value: unknown) => Misfit | undefined;

/** Makes the check of a schema: functions, and no generated code, so that it runs where a platform forbids that. */
export function compileCheck(schema: Schema): Check {
  const checks: Check[] = [];
  if (schema.type !== undefined) checks.push(check(types[schema.type], `must be ${schema.type}`));
  if ('const' in schema)
    checks.push(check((value) => value === schema.const, 'must be equal to constant'));
  if (schema.enum !== undefined) checks.push(enumCheck(schema.enum));
  if (schema.anyOf !== undefined) checks.push(unionCheck(schema.anyOf));
  for (const [name, test] of Object.entries(limits)) {
    const given = schema[name as keyof typeof limits];
    const limit = name === 'pattern' ? new RegExp(String(given), 'u') : given;
    // the keyword says which values and limits there are
    const fits = (value: unknown): boolean => test.fits(value as never, limit as never);
    if (given !== undefined) checks.push(check(fits, test.problem(limit)));
  }
  if (schema.type === 'array' && schema.items !== undefined) checks.push(itemCheck(schema.items));
  if (schema.type === 'object') checks.push(fieldCheck(schema));
  if (checks.length === 0) return () => undefined;
  return checks.reduce((first, then) => (value) => first(value) ?? then(value));
}

/** The keyword of a schema, or of a part of it, that the kernel does not know; nothing if it knows all. */
export function unknownKeyword(schema: Schema): string | undefined {
  const type = schema.type === 'integer' ? 'number' : schema.type;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'type' ? !Object.hasOwn(types, value) : !known.has(key)) return key;
    const of = needs.get(key);
    if (of !== undefined && of !== type) return key; // it would bind values of one type only
    if (key === 'pattern' && !isPattern(value)) return key;
    if (['const', 'enum'].includes(key) && [value].flat().some(isObject)) return key; // compared by identity
  }
  const { properties = {}, required = [], items, anyOf, additionalProperties } = schema;
  if (required.some((key) => !Object.hasOwn(properties, key))) return 'required';
  const parts = [...Object.values(properties), ...(anyOf ?? [])];
  for (const part of [...parts, items, additionalProperties]) {
    const unknown = typeof part === 'object' ? unknownKeyword(part) : undefined;
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

function isPattern(value: unknown): boolean {
  try {
    return new RegExp(String(value), 'u').source !== '';
  } catch {
    return false;
  }
}

const types: Readonly<Record<SchemaType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** A bound on a number, a text, a list or an object, and the words for it. */
interface Limit {
  readonly of: SchemaType;
  readonly fits: (value: never, limit: never) => boolean;
  readonly problem: (limit: unknown) => string;
}

const size = (text: string) => [...text].length;

function bound<Value, Bound>(
  of: SchemaType,
  fits: (value: Value, limit: Bound) => boolean,
  problem: (limit: unknown) => string,
): Limit {
  return { of, fits, problem };
}

/** The bounds by keyword. A value has passed the type of its schema. */
const limits = {
  minimum: bound(
    'number',
    (n: number, l: number) => n >= l,
    (l) => `must be >= ${l}`,
  ),
  maximum: bound(
    'number',
    (n: number, l: number) => n <= l,
    (l) => `must be <= ${l}`,
  ),
  minLength: bound('string', (t: string, l: number) => size(t) >= l, fewer('characters')),
  maxLength: bound('string', (t: string, l: number) => size(t) <= l, more('characters')),
  pattern: bound(
    'string',
    (t: string, pattern: RegExp) => pattern.test(t),
    (l) => `must match pattern "${(l as RegExp).source}"`, // as compileCheck has made it
  ),
  minItems: bound('array', (a: readonly [], l: number) => a.length >= l, fewer('items')),
  maxItems: bound('array', (a: readonly [], l: number) => a.length <= l, more('items')),
  minProperties: bound(
    'object',
    (o: object, l: number) => Object.keys(o).length >= l,
    fewer('properties'),
  ),
} as const;

/** The keywords that say something of values of one type alone. */
const needs: ReadonlyMap<string, SchemaType> = new Map([
  ['items', 'array'],
  ['properties', 'object'],
  ['required', 'object'],
  ['additionalProperties', 'object'],
  ...Object.entries(limits).map(([name, { of }]) => [name, of] as const),
]);

/** The keywords that are read, and those that only tell people something. */
const known: ReadonlySet<string> = new Set([
  ...needs.keys(),
  ...['const', 'enum', 'anyOf', 'title', 'description', 'default', 'examples', 'deprecated'],
]);

function fewer(what: string) {
  return (limit: unknown) => `must not have fewer than ${limit} ${what}`;
}

function more(what: string) {
  return (limit: unknown) => `must not have more than ${limit} ${what}`;
}

function check(fits: (value: unknown) => boolean, problem: string): Check {
  const misfit: Misfit = Object.freeze({ path: '', problem });
  return (value) => (fits(value) ? undefined : misfit);
}

function enumCheck(words: readonly unknown[]): Check {
  const allowed = new Set(words);
  return check((value) => allowed.has(value), 'must be equal to one of the allowed values');
}

function unionCheck(members: readonly Schema[]): Check {
  const checks = members.map(compileCheck);
  const fits = (value: unknown) => checks.some((one) => one(value) === undefined);
  return check(fits, 'must match a schema in anyOf');
}

function itemCheck(items: Schema): Check {
  const one = compileCheck(items);
  return (list) => {
    const values = list as readonly unknown[]; // the type was checked before
    for (let at = 0; at < values.length; at++) {
      const misfit = one(values[at]);
      if (misfit !== undefined) return within(misfit, String(at));
    }
    return undefined;
  };
}

/** A field of an object: its check, and whether it must be there. */
interface FieldCheck {
  readonly isRequired: boolean;
  readonly misfit: Check;
}

/** Reads the keys that an object has, which are few of those that it may have. */
function fieldCheck({ properties, required = [], additionalProperties = true }: Schema): Check {
  const others = typeof additionalProperties === 'object' ? additionalProperties : {};
  const other = additionalProperties === false ? undefined : compileCheck(others);
  const needed = new Set(required).size;
  const fields = new Map<string, FieldCheck>();
  for (const [key, schema] of Object.entries(properties ?? {}))
    fields.set(key, { isRequired: required.includes(key), misfit: compileCheck(schema) });
  return (object) => {
    const record = object as Readonly<Record<string, unknown>>; // the type was checked before
    let lacks = needed;
    let surplus: string | undefined;
    for (const key in record) {
      if (!Object.hasOwn(record, key)) continue;
      const value = record[key];
      const field = fields.get(key);
      if (field === undefined && other === undefined) surplus ??= key;
      if (field?.isRequired === true) lacks--;
      else if (field !== undefined && value === undefined) continue;
      const wrong = (field?.misfit ?? other)?.(value);
      if (wrong !== undefined) return within(wrong, key);
    }
    if (lacks > 0) return lacking(record, required);
    if (surplus === undefined) return undefined;
    return { path: '', problem: 'must not have additional properties', surplus };
  };
}

function lacking(record: object, required: readonly string[]): Misfit {
  const missing = required.filter((key) => !Object.hasOwn(record, key));
  return { path: '', problem: `must have required properties ${missing.join(', ')}` };
}

function within(misfit: Misfit, key: string): Misfit {
  return { ...misfit, path: step(key) + misfit.path };
}
