/** A copy of plain objects and arrays, cycles included, as they are now; everything else is the same in the copy. */
export function plainCopy<T>(value: T, copies: Map<unknown, unknown> = new Map()): T {
  if (!isPlain(value)) return value;
  const made = copies.get(value);
  if (made !== undefined) return made as T; // a copy of this very value
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  copies.set(value, copy);
  for (const key of Object.keys(value))
    (copy as Record<string, unknown>)[key] = plainCopy((value as Fields)[key], copies);
  return copy as T; // the same keys with the same values
}

type Fields = Readonly<Record<string, unknown>>;

/** A list, or an object that no class made. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
