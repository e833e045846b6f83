/** The fields of `T`, optional and without `undefined` if their type allows `undefined`. */
export type DefinedFields<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Copies the own enumerable fields of an object and leaves out those that are `undefined`. Payloads and options
 * hold no field that is `undefined`.
 *
 * @example
 * definedFields({ a: 1, b: undefined }); // { a: 1 }
 */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value: unknown = fields[key as keyof T];
    if (value !== undefined) copy[key] = value;
  }
  return copy as DefinedFields<T>; // exactly the fields that have a value
}
