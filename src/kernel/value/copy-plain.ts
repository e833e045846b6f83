import { isPlain, maxDepth, oddity, type PlainProblem, step } from './plain.js';

/** A frozen copy of plain data. */
interface PlainCopy {
  readonly copy: object;
}

/**
 * Copies plain data from outside and freezes the copy: every property is read once, by its descriptor, so that no
 * accessor runs and no proxy can answer differently the next time. Cycles and shared parts stay what they are. Everything
 * else is refused: accessors, symbol keys, hidden properties, functions, class instances, `__proto__`.
 *
 * @param shared fields of the root that pass by reference.
 * @param depth how deep it may nest; a part of a payload is given less than the whole.
 */
export function copyPlain(
  root: object,
  shared: readonly string[] = [],
  depth = maxDepth,
): PlainCopy | PlainProblem {
  const copying = new Copying();
  try {
    return copying.copy(root, shared, depth);
  } catch {
    return { ...problem(copying.reading, 'it cannot be read'), isUnreadable: true };
  }
}

interface Node {
  readonly source: object;
  readonly copy: object;
  readonly path: Path | undefined;
}

/** A path as a list towards the root, made a text only where it is told. */
interface Path {
  readonly key: string;
  readonly up: Path | undefined;
}

class Copying {
  readonly #copies = new Map<object, object>();
  #below: Node[] = [];
  /** The path that is read just now; nothing stands for the root. */
  reading: Path | undefined;

  copy(root: object, shared: readonly string[], depth: number): PlainCopy | PlainProblem {
    if (!isPlain(root)) return { path: '/', problem: oddity(root) };
    const copy = this.#open(root, undefined);
    for (let left = depth; this.#below.length > 0; left--) {
      if (left < 0) return { path: '/', problem: `it nests deeper than ${maxDepth} levels` };
      const level = this.#below;
      this.#below = [];
      for (const node of level) {
        const problem = this.#fill(node, node.source === root ? shared : []);
        if (problem !== undefined) return problem;
      }
    }
    return { copy };
  }

  /** An empty copy of an object, to be filled with the next level. */
  #open(source: object, path: Path | undefined): object {
    const copy: object = Array.isArray(source)
      ? []
      : Object.getPrototypeOf(source) === null
        ? Object.create(null)
        : {};
    this.#copies.set(source, copy);
    this.#below.push({ source, copy, path });
    return copy;
  }

  #fill({ source, copy, path }: Node, shared: readonly string[]): PlainProblem | undefined {
    this.reading = path;
    const isList = Array.isArray(source);
    for (const key of Reflect.ownKeys(source)) {
      if (typeof key === 'symbol') return problem(path, 'a symbol key is not data');
      const at: Path = { key, up: path };
      this.reading = at;
      const descriptor = Object.getOwnPropertyDescriptor(source, key);
      if (descriptor === undefined) continue; // a proxy that named a key it does not have
      if (!('value' in descriptor))
        return problem(at, 'it is an accessor, which could answer differently each time');
      const value: unknown = descriptor.value;
      if (isList && key === 'length') {
        (copy as unknown[]).length = Number(value); // holes stay holes
        continue;
      }
      if (key === '__proto__') return problem(at, 'a key of that name is not data');
      if (shared.includes(key)) {
        (copy as Record<string, unknown>)[key] = value;
        continue;
      }
      if (descriptor.enumerable !== true) return problem(at, 'a hidden property is not data');
      const taken = this.#take(value, at);
      if (taken === undefined && value !== undefined) return problem(at, oddity(value));
      (copy as Record<string, unknown>)[key] = taken;
    }
    Object.freeze(copy);
    return undefined;
  }

  /** Returns a primitive as it is, the copy of an object, and `undefined` for a value that is no data. */
  #take(value: unknown, path: Path): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    return this.#copies.get(value) ?? (isPlain(value) ? this.#open(value, path) : undefined);
  }
}

function problem(path: Path | undefined, text: string): PlainProblem {
  let where = '';
  for (let at = path; at !== undefined; at = at.up) where = step(at.key) + where;
  return { path: where === '' ? '/' : where, problem: text };
}
