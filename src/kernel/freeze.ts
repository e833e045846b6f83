/** How deep a payload may nest. Deeper is refused, so that no walk can exhaust the stack (spec §1.6). */
export const maxDepth = 512;

/** Where a value is that cannot be frozen, and why. */
export interface FreezeProblem {
  readonly path: string;
  readonly problem: string;
}

type Bag = Readonly<Record<string, unknown>>;

/**
 * Freezes plain data in place: objects and arrays, cycles and shared parts included, level by level, without
 * recursion. What `Object.freeze` does not protect (Map, Set, Date, typed arrays, class instances) is refused.
 *
 * @param shared fields of the root that pass by reference and are not looked into.
 * @param strict also refuses accessors, which could answer differently each time: for values from outside.
 * @returns what stands in the way, or nothing. Parts before it are frozen then.
 */
export function freezePlain(
  root: object,
  shared: readonly string[],
  strict: boolean,
): FreezeProblem | undefined {
  if (!isPlain(root)) return { path: '/', problem: describe(root) };
  let level = children(root, shared, strict);
  if (level instanceof Culprit) return level.at(root);
  Object.freeze(root);
  let met: Set<object> | undefined;
  for (let depth = 1; level !== undefined; depth++) {
    if (depth > maxDepth) return { path: '/', problem: `it nests deeper than ${maxDepth} levels` };
    let below: object[] | undefined;
    for (const node of level) {
      if (Object.isFrozen(node)) {
        // frozen before, or met a second time: its children may still be open, so look once, then never again
        met ??= new Set();
        if (met.has(node)) continue;
        met.add(node);
      }
      if (!isPlain(node)) return new Culprit(node, describe(node)).at(root);
      const inner = children(node, none, strict);
      if (inner instanceof Culprit) return inner.at(root);
      Object.freeze(node);
      if (inner !== undefined) below = below === undefined ? inner : push(below, inner);
    }
    level = below;
  }
  return undefined;
}

/** Whether a value is an array, or an object that a literal could have made (of this realm or another). */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  if (Array.isArray(value)) return true;
  return (
    typeof prototype === 'object' &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype as object, 'isPrototypeOf')
  );
}

const none: readonly string[] = [];

/** The value that stands in the way; its path is looked for only now that it is needed. */
class Culprit {
  constructor(
    readonly value: unknown,
    readonly problem: string,
    readonly key = '',
  ) {}

  at(root: object): FreezeProblem {
    const seen = new Set<object>([root]);
    let level: { node: object; path: string }[] = [{ node: root, path: '' }];
    while (level.length > 0) {
      const below: typeof level = [];
      for (const { node, path } of level) {
        if (node === this.value) return { path: `${path}/${this.key}`, problem: this.problem };
        for (const key of Object.keys(node)) {
          const descriptor = Object.getOwnPropertyDescriptor(node, key);
          const value: unknown = descriptor?.value;
          if (value === this.value && this.key === '')
            return { path: `${path}/${key}`, problem: this.problem };
          if (typeof value !== 'object' || value === null || seen.has(value)) continue;
          seen.add(value);
          below.push({ node: value, path: `${path}/${key}` });
        }
      }
      level = below;
    }
    return { path: '/', problem: this.problem };
  }
}

/** The objects one level below, or the value that is no data. `undefined` where there are none. */
function children(
  node: object,
  shared: readonly string[],
  strict: boolean,
): object[] | Culprit | undefined {
  if (strict) {
    const accessor = firstAccessor(node);
    if (accessor !== undefined) return accessor;
  }
  let found: object[] | undefined;
  for (const key in node) {
    const value = (node as Bag)[key];
    if (typeof value === 'object') {
      if (value === null || (shared.length > 0 && shared.includes(key))) continue;
      if (found === undefined) found = [value];
      else found.push(value);
    } else if (typeof value === 'function' || typeof value === 'symbol') {
      if (shared.length > 0 && shared.includes(key)) continue;
      return new Culprit(value, describe(value));
    }
  }
  return found;
}

function firstAccessor(node: object): Culprit | undefined {
  for (const key of Object.keys(node)) {
    const descriptor = Object.getOwnPropertyDescriptor(node, key);
    if (descriptor !== undefined && !('value' in descriptor))
      return new Culprit(node, 'it is an accessor, which could answer differently each time', key);
  }
  return undefined;
}

function push(list: object[], more: readonly object[]): object[] {
  for (const item of more) list.push(item);
  return list;
}

function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function is not data';
  if (typeof value === 'symbol') return 'a symbol is not data';
  if (ArrayBuffer.isView(value)) return 'bytes cannot be frozen';
  if (value instanceof Map || value instanceof Set || value instanceof Date)
    return `a ${value.constructor.name} cannot be frozen`;
  return 'an instance of a class is not plain data';
}
