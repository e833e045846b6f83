/** How deep plain data may nest. Deeper is refused, so that no walk can exhaust the stack (spec §1.6). */
export const maxDepth = 512;

/** The path of a value that is no plain data, and why it is none. */
export interface PlainProblem {
  readonly path: string;
  readonly problem: string;
  /** It cannot even be read: a revoked proxy, say. */
  readonly isUnreadable?: true;
}

/** Returns whether an object is an array, or one that a literal could have made, of this realm or another. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null)
    return true;
  const parent: unknown = Object.getPrototypeOf(prototype);
  if (parent === null) return Object.hasOwn(prototype as object, 'isPrototypeOf');
  return Array.isArray(value) && Object.getPrototypeOf(parent) === null;
}

/** Why a value is no plain data, for people. */
export function oddity(value: unknown): string {
  if (typeof value === 'function') return 'a function is not data';
  if (typeof value === 'symbol') return 'a symbol is not data';
  if (ArrayBuffer.isView(value)) return 'bytes cannot be frozen; write a Base64 text instead';
  if (value instanceof Date) return 'a Date cannot be frozen; write a number or a text instead';
  if (value instanceof Map) return 'a Map cannot be frozen; write an object instead';
  if (value instanceof Set) return 'a Set cannot be frozen; write an array instead';
  return 'an instance of a class is not plain data';
}

/** One step of a path, with the slash before it. */
export function step(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Describes a wrong value: its type and its keys. Never its values. */
export function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const name = Array.isArray(value) ? 'an array' : 'an object';
  const keys = Object.keys(value).slice(0, 5);
  return keys.length === 0 ? name : `${name} with ${keys.map((key) => `"${key}"`).join(', ')}`;
}
