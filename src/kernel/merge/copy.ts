/** The keys of a payload in their order, and what is made for them. */
export interface Shape {
  readonly keys: readonly string[];
  /** Makes an unfrozen shallow copy with the keys, and the order, of its argument. */
  readonly copy: (source: object) => Record<string, unknown>;
  /** Returns whether an object has the fields of another, and no others, so that it has not been written since it was copied. */
  readonly isSame: (copy: object, original: object) => boolean;
}

const maxShapes = 16;

/** Works key by key: the reference. */
export function plainShape(keys: readonly string[]): Shape {
  return {
    keys,
    copy: (source) => ({ ...source }),
    isSame: (copy, original) => {
      if (Object.getPrototypeOf(copy) !== Object.prototype) return false;
      const count = Object.keys(copy).length;
      return count === keys.length && keys.every((key) => isSameField(copy, original, key));
    },
  };
}

function isSameField(copy: object, original: object, key: string): boolean {
  const [left, right] = [copy, original] as readonly Readonly<Record<string, unknown>>[];
  return Object.hasOwn(copy, key) && Object.is(left?.[key], right?.[key]);
}

/** Finds the shape of a payload. */
export interface ShapeFinder {
  of(source: object): Shape;
}

/** Finds the reference. */
export const plainShapes: ShapeFinder = { of: (source) => plainShape(Object.keys(source)) };

/**
 * Keeps the shapes of the payloads of a stage. Copying through one place in the code for all payloads is slow, so each shape that a
 * stage meets is given code of its own. If a stage meets many shapes, the reference serves.
 */
export class Shapes implements ShapeFinder {
  readonly #shapes: Shape[] = [];
  /** A frozen payload of each shape, without a caller's data: it keeps a hidden class, as the specimens of a kernel do. */
  readonly #specimens: object[] = [];
  readonly #make: (keys: readonly string[]) => Shape;

  /** @param make makes what serves one shape. */
  constructor(make: (keys: readonly string[]) => Shape) {
    this.#make = make;
  }

  of(source: object): Shape {
    for (const shape of this.#shapes) if (fits(shape.keys, source)) return shape;
    const keys = Object.keys(source);
    if (this.#shapes.length >= maxShapes || keys.includes('__proto__')) return plainShape(keys);
    const shape = this.#make(keys);
    this.#shapes.push(shape);
    this.#specimens.push(specimenOf(shape, source));
    return shape;
  }
}

/** Copies a payload with values that say nothing, each of a kind that V8 stores as it stores the value. */
function specimenOf({ copy, keys }: Shape, source: object): object {
  const specimen = copy(source);
  for (const key of keys) specimen[key] = blank(specimen[key]);
  return Object.freeze(specimen);
}

function blank(value: unknown): unknown {
  if (typeof value === 'number') return 0;
  return typeof value === 'string' ? '' : null;
}

/** Returns whether an object has these keys in this order. */
function fits(keys: readonly string[], source: object): boolean {
  let at = 0;
  for (const key in source) {
    if (keys[at] === key) at++;
    else if (Object.hasOwn(source, key)) return false; // not a key that was planted on every object
  }
  return at === keys.length;
}
