/** Levels that a value may have. */
const maxDepth = 100;

/** A value that JSON would not bring back as it is, with its place: `value.days[2]`. */
interface NotPlain {
  readonly path: string;
  readonly problem: string;
}

/** Finds the first part of a value that is not plain JSON. A property that is `undefined` counts as absent. */
export function notPlain(value: unknown, path = 'value', depth = 0): NotPlain | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { path, problem: `it is ${value}` };
  if (typeof value !== 'object') return { path, problem: `it is ${nameOf(value)}` };
  if (depth >= maxDepth)
    return { path, problem: `it lies deeper than ${maxDepth} levels, or holds itself` };
  if (Object.hasOwn(value, 'toJSON'))
    return { path: `${path}.toJSON`, problem: 'a value with it is written as something else' };
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const found = notPlain(item, `${path}[${at}]`, depth + 1);
      if (found !== undefined) return found;
    }
    const [more] = Object.keys(value).slice(value.length);
    return more === undefined
      ? undefined
      : { path, problem: `it is a list with a field "${more}"` };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && !isOtherRealm(prototype))
    return { path, problem: `it is an instance of ${className(value)}` };
  for (const [key, item] of Object.entries(value)) {
    const at = /^[\w$]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    const found = item === undefined ? undefined : notPlain(item, at, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A literal of another realm, such as a test runner's, has a prototype of its own. */
function isOtherRealm(prototype: unknown): boolean {
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(Object(prototype), 'isPrototypeOf')
  );
}

function className(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === 'function' && made.name !== '' ? made.name : 'a class';
}

function nameOf(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}
