import type { PatchLaw } from '../stage/vocabulary.js';
import { sameData } from '../value/same-data.js';

/** The state of one field for its law: the value that was emitted, the value now, and the writes so far. */
export interface FieldState {
  /** The value before any patch of this dispatch. */
  readonly base: unknown;
  /** The value now. */
  readonly value: unknown;
  /** The pieces that patches brought so far, joined: for the text laws. */
  readonly pieces: string;
  /** A patch of this dispatch has written it. */
  readonly written: boolean;
}

/**
 * How a written value and the field's state make the next state. Pure. The value has passed the patch schema and
 * is not `undefined`; `null` clears under every law (spec §6).
 */
export type Law = (state: FieldState, value: unknown, separator: string) => FieldState;

/** A law of an annotation field that is neither a list nor replaceable: the first stands (spec §7). */
export type AnnotationLaw = PatchLaw | 'once';

/** The state of a field that no patch has written. */
export function untouched(base: unknown): FieldState {
  return { base, value: base, pieces: '', written: false };
}

/** The laws by name. Each is a pure function of the field's state and the written value. */
export const lawFunctions: Readonly<Record<AnnotationLaw, Law>> = {
  /** The last writer wins. */
  replace: (state, value) => ({ ...state, value, written: true }),

  /** Lists grow in run order. */
  append: (state, value) => ({
    ...state,
    value: value === null ? null : [...list(state.value), ...list(value)],
    written: true,
  }),

  /** The first patch that sets the field beats the emitted value and every later patch. */
  'first-defined': (state, value) => (state.written ? state : { ...state, value, written: true }),

  /** Keys of a record are set one by one; a key that is `null` stays as `null`. */
  'merge-keys': (state, value) => ({
    ...state,
    value: value === null ? null : mergeKeys(record(state.value), record(value)),
    written: true,
  }),

  /** Pieces stand before the emitted text, in run order. */
  'prepend-text': (state, value, separator) =>
    compose(state, value, separator, (pieces, base) => join(pieces, base, separator)),

  /** Pieces stand after the emitted text, in run order. */
  'append-text': (state, value, separator) =>
    compose(state, value, separator, (pieces, base) => join(base, pieces, separator)),

  /** The first stands; whether a second is refused is the merge's to say. */
  once: (state, value) =>
    state.value === undefined || state.value === null ? { ...state, value, written: true } : state,
};

/** Keys that say what they said before keep the value they had. */
function mergeKeys(old: Bag, written: Bag): Bag {
  const changed = Object.entries(written).filter(
    ([key, value]) => !Object.hasOwn(old, key) || !sameData(old[key], value),
  );
  return { ...old, ...Object.fromEntries(changed) };
}

function compose(
  state: FieldState,
  value: unknown,
  separator: string,
  place: (pieces: string, base: string) => string,
): FieldState {
  if (value === null) return { base: null, value: null, pieces: '', written: true };
  const pieces = join(state.pieces, text(value), separator);
  return { base: state.base, value: place(pieces, text(state.base)), pieces, written: true };
}

function join(first: string, second: string, separator: string): string {
  if (first === '') return second;
  return second === '' ? first : `${first}${separator}${second}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

type Bag = Readonly<Record<string, unknown>>;

function record(value: unknown): Bag {
  return typeof value === 'object' && value !== null ? (value as Bag) : {};
}
