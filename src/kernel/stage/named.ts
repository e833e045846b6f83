import type { Static, TObject, TSchema } from 'typebox';

/** A schema whose values have a named type, so that hovers show the name in place of every field. */
export type Named<I extends object> = TObject & { readonly '~named': I };

/** The type of a schema's values: its named type, if it has one. */
export type ValueOf<T> = T extends { readonly '~named': infer I }
  ? I
  : T extends TSchema
    ? Readonly<Static<T>>
    : never;

/**
 * Gives a schema the interface that was made of it. The interface may have no field that the schema lacks.
 *
 * @example
 * const sent = Type.Object({ to: Type.String() });
 * interface Sent extends Static<typeof sent> {}
 * defineStage({ payload: named<Sent>(sent), ... });
 */
export function named<I extends object>(
  schema: TSchema & { readonly properties: { readonly [Field in keyof I]-?: TSchema } },
): Named<I> {
  return schema as unknown as Named<I>; // `~named` is for the compiler alone: no schema has it
}
