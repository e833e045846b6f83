import type { Infer, ObjectSchema, Schema } from '../schema/schema.js';
import type { StandardSchema } from '../schema/standard.js';

/** A schema whose values have a named type, so that hovers show the name in place of every field. */
export type Named<I extends object> = ObjectSchema & { readonly '~named': I };

/** The type of a schema's values: its named type, if it has one. */
export type ValueOf<T> = T extends { readonly '~named': infer I }
  ? I
  : T extends StandardSchema<infer O>
    ? Readonly<O>
    : T extends Schema
      ? Readonly<Infer<T>>
      : never;

/** Gives a schema of the catalog the interface that was made of it. The interface may have no field that the schema lacks. */
export function named<I extends object>(
  schema: Schema & { readonly properties: { readonly [Field in keyof I]-?: Schema } },
): Named<I> {
  return schema as unknown as Named<I>; // `~named` is for the compiler alone: no schema has it
}
