// The fields of payloads. The catalog imports this module as `f`.

import type { ObjectSchema, Schema } from '../../schema/schema.js';

type SchemaFields = Readonly<Record<string, Schema>>;

/** An object of known fields: a surplus key is a mistake (spec §2). */
export const object = <Fields extends SchemaFields>(
  properties: Fields,
  description?: string,
): ObjectSchema<Fields> => {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]));
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties,
    additionalProperties: false,
    ...(description !== undefined && { description }),
  };
};

/** A field that may be absent. */
export const optional = <S extends Schema>(schema: S) =>
  // hidden, so that it stands in no JSON
  Object.defineProperty({ ...schema }, '~optional', { value: true }) as S & {
    readonly '~optional': true; // it was set
  };

const isOptional = (schema: Schema | undefined) => schema?.['~optional'] === true;

/** A text. */
export const text = (description?: string) => ({ type: 'string', ...told(description) }) as const;

/** A list. */
export const list = <S extends Schema>(items: S, description: string) =>
  ({ type: 'array', items, ...told(description) }) as const;

/** A list with something in it. */
export const fullList = <S extends Schema>(items: S, description: string) =>
  ({ type: 'array', items, minItems: 1, ...told(description) }) as const;

/** A list of texts. */
export const texts = (description: string) => list(text(), description);

/** Yes or no. */
export const flag = (description: string) => ({ type: 'boolean', ...told(description) }) as const;

/** Yes, or absent. */
export const always = (description: string) =>
  ({ type: 'boolean', const: true, ...told(description) }) as const;

/** A whole number. */
export const integer = (description: string) =>
  ({ type: 'integer', ...told(description) }) as const;

/** A whole number from 0 up. */
export const count = (description: string) =>
  ({ type: 'integer', minimum: 0, ...told(description) }) as const;

/** A number. */
export const number = (description?: string) => ({ type: 'number', ...told(description) }) as const;

/** A number from 0 up: a span or a moment in the unit that its name ends with, or an amount. */
export const amount = (description: string) =>
  ({ type: 'number', minimum: 0, ...told(description) }) as const;

/** One of a few words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  ({ enum: words, ...told(description) }) as const;

/** A value of one of several schemas. */
export const either = <const Members extends readonly Schema[]>(
  anyOf: Members,
  description?: string,
) => ({ anyOf, ...told(description) }) as const;

/** An id as its provider writes it: some write numbers. */
export const providerId = (description: string) => either([text(), number()], description);

/** An object that may have more fields than the kernel knows. `T` is its type. */
export const open = <T>(properties: SchemaFields, description: string) =>
  ({
    ...object(properties),
    additionalProperties: true,
    ...told(description),
  }) as ObjectSchema & { readonly '~unsafe': T }; // for the compiler alone: no schema has it

/**
 * A record whose keys are not the kernel's to know. Each use is listed, with its reason, in
 * spec/catalog-decisions.md.
 */
export const openRecord = (description: string) => open<Record<string, unknown>>({}, description);

/** A value that the kernel only passes on. Each use is listed in spec/catalog-decisions.md. */
export const opaque = (description?: string): Schema & { readonly '~unsafe': unknown } =>
  told(description) as Schema & { readonly '~unsafe': unknown }; // as above

/** A list of values that the kernel only passes on. Each use is listed in spec/catalog-decisions.md. */
export const opaques = (description: string) => list(opaque(), description);

const told = (description: string | undefined): { readonly description?: string } =>
  description === undefined ? {} : { description };
