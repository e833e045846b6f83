/** Makes an unfrozen shallow copy with the keys, and the order, of its argument. */
export type Copy = (source: object) => Record<string, unknown>;

const maxShapes = 16;

/** Copies key by key: the reference that the generated copies are tested against. */
export const spreadCopy: Copy = (source) => ({ ...source });

/**
 * Finds the copy function for a payload. Spreading a frozen object is slow (some 85 ns against 6), so each shape
 * that a stage meets gets a literal of its own; where code generation is not allowed, or a stage meets many
 * shapes, the spread serves.
 */
export class Copier {
  readonly #shapes: { readonly keys: readonly string[]; readonly copy: Copy }[] = [];
  readonly #generate: boolean;

  constructor(generate: boolean) {
    this.#generate = generate;
  }

  for(source: object): Copy {
    const keys = Object.keys(source);
    for (const shape of this.#shapes) if (same(shape.keys, keys)) return shape.copy;
    if (!this.#generate || this.#shapes.length >= maxShapes || keys.includes('__proto__'))
      return spreadCopy;
    const copy = literalCopy(keys);
    this.#shapes.push({ keys, copy });
    return copy;
  }
}

/** Whether this process may make functions from text (`--disallow-code-generation-from-strings` forbids it). */
export function canGenerateCode(): boolean {
  try {
    return new Function('return true')() === true;
  } catch {
    return false;
  }
}

function literalCopy(keys: readonly string[]): Copy {
  const fields = keys.map((key) => `${JSON.stringify(key)}:s[${JSON.stringify(key)}]`);
  return new Function('s', `return {${fields.join(',')}}`) as Copy; // keys are quoted as JSON
}

function same(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}
