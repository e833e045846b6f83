import { isPlain, maxDepth, oddity, type PlainProblem, step } from './plain.js';

/**
 * Freezes plain data in place: objects and arrays, cycles and shared parts included, level by level, without
 * recursion. For values that this program made: it trusts them to be what they seem. Values from outside are
 * copied by `copyPlain`, which trusts nothing.
 *
 * @param shared fields of the root that pass by reference and are not looked into.
 * @returns what stands in the way, or nothing. Parts before it are frozen then.
 */
export function freezePlain(root: object, shared: readonly string[]): PlainProblem | undefined {
  if (!isPlain(root)) return { path: '/', problem: oddity(root) };
  let level = children(root, shared);
  if (level instanceof Culprit) return level.in(root);
  Object.freeze(root);
  let met: Set<object> | undefined;
  let nodes = 0;
  for (let depth = 1; level !== undefined; depth++) {
    if (depth > maxDepth) return { path: '/', problem: `it nests deeper than ${maxDepth} levels` };
    let below: object[] | undefined;
    for (const node of level) {
      if (++nodes > fewNodes) {
        met ??= new Set();
        if (met.has(node)) continue;
        met.add(node);
      }
      if (!isPlain(node)) return new Culprit(node).in(root);
      const inner = children(node, none);
      if (inner instanceof Culprit) return inner.in(root);
      Object.freeze(node);
      if (inner !== undefined) below = below === undefined ? inner : push(below, inner);
    }
    level = below;
  }
  return undefined;
}

/**
 * From how many nodes on it is remembered which were met. Below that, meeting a shared part or a cycle again costs
 * less than remembering; from there on nothing is looked into twice, so that every walk ends.
 */
const fewNodes = 64;

const none: readonly string[] = [];

/** A value that is no data. Its path is looked for only now that it is needed. */
class Culprit {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  in(root: object): PlainProblem {
    const problem = oddity(this.#value);
    const met = new Set<object>([root]);
    let level: { readonly node: object; readonly path: string }[] = [{ node: root, path: '' }];
    while (level.length > 0) {
      const below: typeof level = [];
      for (const { node, path } of level) {
        for (const [key, value] of Object.entries(node)) {
          if (value === this.#value) return { path: path + step(key), problem };
          if (typeof value !== 'object' || value === null || met.has(value)) continue;
          met.add(value);
          below.push({ node: value, path: path + step(key) });
        }
      }
      level = below;
    }
    return { path: '/', problem };
  }
}

/** Returns the objects one level below, or the value that is no data; nothing if all are primitives. */
function children(node: object, shared: readonly string[]): object[] | Culprit | undefined {
  if (Array.isArray(node) && isDense(node)) return among(node);
  let found: object[] | undefined;
  for (const key in node) {
    const value = (node as Readonly<Record<string, unknown>>)[key];
    if (typeof value === 'object') {
      if (value === null || (shared.length > 0 && shared.includes(key))) continue;
      if (found === undefined) found = [value];
      else found.push(value);
    } else if (typeof value === 'function' || typeof value === 'symbol') {
      if (shared.length > 0 && shared.includes(key)) continue;
      return new Culprit(value);
    }
  }
  return found;
}

/** Returns whether the keys of a list are its places, all of them: names come last. */
function isDense(list: readonly unknown[]): boolean {
  const keys = Object.keys(list);
  return keys.length === list.length && (keys.length === 0 || keys.at(-1) === `${list.length - 1}`);
}

/** The same for a list without holes or names: walked by its places, as for-in leaves the fast path for it. */
function among(list: readonly unknown[]): object[] | Culprit | undefined {
  let found: object[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const value = list[i];
    if (typeof value === 'object' && value !== null) {
      if (found === undefined) found = [value];
      else found.push(value);
    } else if (typeof value === 'function' || typeof value === 'symbol') return new Culprit(value);
  }
  return found;
}

function push(list: object[], more: readonly object[]): object[] {
  for (const item of more) list.push(item);
  return list;
}
