import { isAbsolute } from 'node:path';
import { type HookAnswer, HookInputError, type JsonObject } from './codec.js';

/** Levels of lists and objects in each other that an input may have. */
export const deepest = 100;

/** Reads the fields of one input. Each method throws `HookInputError` naming a field that is not as documented. */
export interface FieldReader {
  readonly text: (name: string) => string;
  /** A text that need not be there; nothing for null as well. */
  readonly maybe: (name: string) => string | undefined;
  /** The absolute path of a folder. */
  readonly folder: (name: string) => string;
  readonly object: (name: string) => JsonObject;
  /** Anything that JSON has, but it has to be there. */
  readonly value: (name: string) => unknown;
}

/**
 * Makes the reader of an input.
 *
 * @throws HookInputError if it is no object, is of another hook, or is too deep.
 */
export function readerOf(input: unknown, hook?: string): FieldReader {
  if (!isObject(input)) throw new HookInputError('the input of the hook must be a JSON object');
  checkDepth(input, deepest);
  const value = (name: string): unknown => {
    const found = Object.hasOwn(input, name) ? input[name] : undefined;
    if (found === undefined) throw new HookInputError(`the input has no field "${name}"`);
    return found;
  };
  const text = (name: string): string => {
    const found = value(name);
    if (typeof found !== 'string' || found === '') throw wrong(name, 'a text that is not empty');
    return found;
  };
  const maybe = (name: string): string | undefined => {
    const found = Object.hasOwn(input, name) ? input[name] : undefined;
    if (found === undefined || found === null) return undefined;
    if (typeof found !== 'string') throw wrong(name, 'a text');
    return found;
  };
  const folder = (name: string): string => {
    const found = text(name);
    if (!isAbsolute(found)) throw wrong(name, 'an absolute path');
    return found;
  };
  const object = (name: string): JsonObject => {
    const found = value(name);
    if (!isObject(found)) throw wrong(name, 'an object');
    return found;
  };
  if (hook !== undefined && text('hook_event_name') !== hook)
    throw wrong('hook_event_name', `"${hook}"`);
  return { text, maybe, folder, object, value };
}

/** A JSON object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer as JSON. */
export function says(body: JsonObject): HookAnswer {
  return { exitCode: 0, body };
}

/** The words of a refusal: agents take an empty reason for a broken hook. */
export function reasonOf(reason: string): string {
  return reason.trim() === '' ? 'The guard refuses it.' : reason;
}

/** The text of a result: a text as it is, other data as JSON. */
export function resultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function wrong(name: string, wanted: string): HookInputError {
  return new HookInputError(`the field "${name}" must be ${wanted}`);
}

function checkDepth(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw new HookInputError(`the input is deeper than ${deepest} levels`);
  for (const one of Object.values(value)) checkDepth(one, levels - 1);
}
