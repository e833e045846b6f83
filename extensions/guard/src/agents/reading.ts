import { isAbsolute } from 'node:path';
import { HookInputError, type JsonObject } from './codec.js';

/** Levels of lists and objects in each other that an input may have. */
export const deepest = 100;

/** A JSON object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the fields of one input. */
export class FieldReader {
  readonly #input: JsonObject;

  /** @throws HookInputError if the input is no object, or too deep. */
  constructor(input: unknown) {
    if (!isObject(input)) throw new HookInputError('the input of the hook must be a JSON object');
    checkDepth(input, deepest);
    this.#input = input;
  }

  /** Anything that JSON has, but it has to be there. */
  value(name: string): unknown {
    const found = this.#own(name);
    if (found === undefined) throw new HookInputError(`the input has no field "${name}"`);
    return found;
  }

  /** A text that is not empty; one of the texts, if they are given. */
  text(name: string, ...known: readonly string[]): string {
    const found = this.value(name);
    if (typeof found !== 'string' || found === '') throw wrong(name, 'a text that is not empty');
    if (known.length > 0 && !known.includes(found)) throw wrong(name, `"${known.join('" or "')}"`);
    return found;
  }

  /** A text that need not be there; nothing for null as well. */
  maybe(name: string): string | undefined {
    const found = this.#own(name) ?? undefined;
    if (found !== undefined && typeof found !== 'string') throw wrong(name, 'a text');
    return found;
  }

  /** The absolute path of a folder. */
  folder(name: string): string {
    const found = this.text(name);
    if (!isAbsolute(found)) throw wrong(name, 'an absolute path');
    return found;
  }

  object(name: string): JsonObject {
    const found = this.value(name);
    if (!isObject(found)) throw wrong(name, 'an object');
    return found;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#input, name) ? this.#input[name] : undefined;
  }
}

/** The error of a field that is not as documented. */
export function wrong(name: string, wanted: string): HookInputError {
  return new HookInputError(`the field "${name}" must be ${wanted}`);
}

/** The files that a patch in the format of `apply_patch` names. */
export function filesOfPatch(patch: unknown): readonly string[] {
  // Anywhere in a line: programs differ in the blanks that they leave out before a head.
  const head = /\*\*\* *(?:(?:Add|Update|Delete) File|Move to):([^\n]*)/g;
  const files = [...String(patch).matchAll(head)].map(([, file = '']) => file.trim());
  if (files.length === 0) throw new HookInputError('the patch names no file');
  return files;
}

/** The files of a list, which may be patterns for an agent: nobody can tell which files those are. */
export function filesOfList(list: unknown): readonly string[] {
  const files = [list].flat().map(String);
  if (files.some((file) => /[*?[\]{}!()]/.test(file)))
    throw new HookInputError('the files of a pattern cannot be told: name them one by one');
  return files;
}

function checkDepth(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw new HookInputError(`the input is deeper than ${deepest} levels`);
  for (const one of Object.values(value)) checkDepth(one, levels - 1);
}
