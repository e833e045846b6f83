// The fields of payloads. The catalog imports this module as `f`.

import { type TProperties, Type } from 'typebox';

/** The option of every object schema here: a surplus key is a mistake (spec §2). */
export const closed = { additionalProperties: false } as const;

/** An object of known fields. */
export const object = <Fields extends TProperties>(fields: Fields, description?: string) =>
  Type.Object(fields, description === undefined ? closed : { ...closed, description });

/** A field that may be absent. */
export const optional = Type.Optional;

/** A text. */
export const text = (description: string) => Type.String({ description });

/** A list of texts. */
export const texts = (description: string) => Type.Array(Type.String(), { description });

/** Yes or no. */
export const flag = (description: string) => Type.Boolean({ description });

/** A whole number from 0 up. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A number from 0 up: a span or a moment in the unit that its name ends with, or an amount. */
export const amount = (description: string) => Type.Number({ minimum: 0, description });

/** One of a few words. */
export const oneOf = <const Words extends string[]>(
  words: readonly [...Words],
  description: string,
) => Type.Enum(words, { description });

/** An id as its provider writes it: some write numbers. */
export const providerId = (description: string) =>
  Type.Union([Type.String(), Type.Number()], { description });

/**
 * A record whose keys are not the kernel's to know. Each use is listed, with its reason, in
 * spec/catalog-decisions.md. An open object, not `Type.Record`: that tests every key against a pattern,
 * which takes 25 times as long.
 */
export const openRecord = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description }),
  );

/** A value that the kernel only passes on. Each use is listed in spec/catalog-decisions.md. */
export const opaque = (description: string) => Type.Unknown({ description });

/** A list of values that the kernel only passes on. Each use is listed in spec/catalog-decisions.md. */
export const opaques = (description: string) => Type.Array(Type.Unknown(), { description });
