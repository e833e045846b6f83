import { compileCheck } from '../schema/check.js';
import type { Schema } from '../schema/schema.js';
import type { Stage } from '../stage/stage.js';
import { copyPlain } from '../value/copy-plain.js';
import { maxDepth, oddity } from '../value/plain.js';
import { sameData } from '../value/same-data.js';
import { type AnnotationLaw, type FieldState, type Law, lawFunctions, untouched } from './laws.js';

/** Why a patch or annotations were refused, as a whole. */
export interface Refusal {
  readonly kind: 'bad-output' | 'untrusted';
  readonly problem: string;
  /** The field that is valid alone, and not after what was written before. */
  readonly unfit?: string;
  /** The trusted field that a grant would let be written. */
  readonly needs?: string;
}

/** Refuses a patch or annotations for what they hold. */
export function refusal(problem: string): Refusal {
  return { kind: 'bad-output', problem };
}

/** A type that a schema can ask for alone. */
export type PlainType = (typeof plainTypes)[number];

const plainTypes = ['string', 'boolean', 'number', 'integer'] as const;

/** One field that handlers may write: its law and its checks, compiled. */
export interface Field {
  readonly key: string;
  readonly name: AnnotationLaw;
  readonly law: Law;
  readonly separator: string;
  /** Only an extension granted the field may set it. */
  readonly trusted: boolean;
  /** Passes by reference, neither frozen nor looked into. */
  readonly shared: boolean;
  /** The law is `replace` and nothing else has to be looked at: the generated merge writes it directly. */
  readonly direct: boolean;
  /** The schema asks for a type and nothing more: the generated merge tests for it in place. */
  readonly plain: PlainType | undefined;
  /** Returns whether the written value fits the schema of the patch or annotations. */
  readonly accepts: (value: unknown) => boolean;
  /** Returns whether what the law made of it fits the payload's schema. */
  readonly fits: (value: unknown) => boolean;
  /** Why a value is not accepted. */
  readonly explain: (value: unknown) => string;
}

/** The patch fields of a stage. */
export function patchFields(stage: Stage): Field[] {
  const properties = stage.patch?.properties ?? {};
  return Object.entries(properties).map(([key, schema]) => {
    const { law, separator } = stage.laws[key] ?? { law: 'replace', separator: '' };
    // a Standard Schema judges the whole that a patch makes
    const target = stage.standard === undefined ? stage.payload.properties[key] : undefined;
    return field(key, schema, law, separator, {
      target: target !== undefined && !sameSchema(schema, target) ? target : undefined,
      optional: stage.payload.required?.includes(key) !== true,
      trusted: stage.trusted.includes(key),
      shared: stage.shared.includes(key),
    });
  });
}

/** The annotation fields of a stage: lists append, replaceable ones are replaced, of the others the first stands. */
export function annotationFields(stage: Stage): Field[] {
  const properties = stage.annotations?.properties ?? {};
  return Object.entries(properties).map(([key, schema]) => {
    const replaceable = stage.replaceable.includes(key);
    const law = schema.type === 'array' ? 'append' : replaceable ? 'replace' : 'once';
    return field(key, schema, law, '', { optional: true });
  });
}

interface FieldTraits {
  readonly target?: Schema | undefined;
  readonly optional: boolean;
  readonly trusted?: boolean;
  readonly shared?: boolean;
}

function field(
  key: string,
  schema: Schema,
  name: AnnotationLaw,
  separator: string,
  { target, optional, trusted = false, shared = false }: FieldTraits,
): Field {
  const misfitOf = compileCheck(schema);
  const needsFit = target !== undefined || name !== 'replace';
  const fitting = target === undefined ? misfitOf : compileCheck(target);
  return {
    key,
    name,
    law: lawFunctions[name],
    separator,
    trusted,
    shared,
    direct: name === 'replace' && !trusted && !needsFit,
    plain: plainType(schema),
    accepts: (value) => misfitOf(value) === undefined,
    fits: needsFit
      ? (value) => fitting(value) === undefined || (value === undefined && optional)
      : () => true,
    explain: (value) => misfitOf(value)?.problem ?? 'it does not fit the schema',
  };
}

/** The data that merging reads and keeps while a dispatch lasts. */
export interface FieldMemory {
  /** States of the fields whose law looks back. Made when the first such field is written. */
  states: Map<string, FieldState> | undefined;
}

/**
 * Writes one value by its field's law.
 *
 * @returns the next state, or why the value is refused. Nothing is kept: the caller commits.
 */
export function writeField(
  target: Field,
  memory: FieldMemory,
  current: unknown,
  value: unknown,
  granted: boolean,
): FieldState | Refusal {
  if (target.trusted && !granted)
    return {
      kind: 'untrusted',
      problem: `"${target.key}" may be set only by an extension that holds its grant`,
      needs: target.key,
    };
  const taken = takeValue(target, value);
  if (taken.refused !== undefined) return taken.refused;
  const own = taken.value;
  if (!target.accepts(own)) return refusal(`"${target.key}": ${target.explain(own)}`);
  const state = memory.states?.get(target.key) ?? untouched(current);
  if (target.name === 'once' && isSet(current) && !sameData(current, own))
    return refusal(`"${target.key}" is set already, and only the first stands`);
  const next = target.law(state, own, target.separator);
  if (next === state) return state;
  const isSame = target.shared ? Object.is : sameData; // §1.7: a shared one is not looked into
  if (isSame(next.value, state.value)) return { ...next, value: state.value };
  if (!target.shared && typeof next.value === 'object' && next.value !== null)
    Object.freeze(next.value); // §1.7: a shared one passes as it is
  if (!target.fits(next.value))
    return {
      kind: 'bad-output',
      problem: `"${target.key}" would no longer fit the payload after what was written before`,
      unfit: target.key,
    };
  return next;
}

/** Why a value that a field does not accept is refused. */
export function refusalOf(target: Field, value: unknown): Refusal {
  const odd = takeValue(target, value).refused;
  return odd ?? refusal(`"${target.key}": ${target.explain(value)}`);
}

/** The written value: primitives and shared ones as they are, other objects as a frozen copy, read once. */
function takeValue(
  target: Field,
  value: unknown,
): { readonly value: unknown; readonly refused?: Refusal } {
  const shared = target.shared || typeof value !== 'object' || value === null;
  if (shared && typeof value !== 'function' && typeof value !== 'symbol') return { value };
  const taken =
    typeof value === 'object' && value !== null
      ? copyPlain(value, [], maxDepth - 1)
      : { path: '/', problem: oddity(value) };
  if ('copy' in taken) return { value: taken.copy };
  const path = taken.path === '/' ? '' : taken.path;
  return { value, refused: refusal(`"${target.key}"${path}: ${taken.problem}`) };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function plainType(schema: Schema): PlainType | undefined {
  const { type, ...limits } = bare(schema);
  if (Object.keys(limits).length > 0) return undefined;
  return plainTypes.find((name) => name === type);
}

function sameSchema(left: Schema, right: Schema): boolean {
  return left === right || JSON.stringify(bare(left)) === JSON.stringify(bare(right));
}

/** The schema without what only people read. */
function bare({ description: _, ...rest }: Schema): Schema {
  return rest;
}
