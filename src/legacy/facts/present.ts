type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy without the fields that are `undefined`: legacy events hold such, payloads do not.
 *
 * @example
 * present({ a: 1, b: undefined }); // { a: 1 }
 */
export function present<T extends object>(fields: T): Present<T> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value: unknown = fields[key as keyof T];
    if (value !== undefined) copy[key] = value;
  }
  return copy as Present<T>; // exactly the fields that have a value
}
