import { kernelError } from '../errors.js';
import { unknownKeyword } from '../schema/check.js';
import type { ObjectSchema, Schema } from '../schema/schema.js';
import { isStandard, type StandardSchema } from '../schema/standard.js';
import type { Stage } from './stage.js';
import {
  type ExecutionMode,
  emissionSources,
  emitters,
  executionModes,
  type HandlerClass,
  handlerClasses,
  type PatchLawSpec,
  patchLaws,
} from './vocabulary.js';

/** A row without the types that its columns are joined by. */
export interface AnySpec extends Partial<Omit<Stage, 'laws' | 'onError' | 'cancelCodes'>> {
  readonly family: string;
  readonly classes: readonly HandlerClass[];
  readonly mode: ExecutionMode;
  readonly payload: ObjectSchema;
  readonly laws?: Readonly<Record<string, PatchLawSpec | undefined>>;
  readonly onError?: Partial<Stage['onError']>;
  readonly cancelCodes?: readonly string[];
}

/** The column with the schema of what handlers of a class return. */
const written = [
  ['mutator', 'patch'],
  ['augmenter', 'annotations'],
  ['resolver', 'selection'],
] as const;

/** Makes the function that refuses a row, naming its family. */
export function refusalOf(given: unknown): (problem: string) => never {
  const { family } = Object(given);
  return (problem) => {
    throw kernelError('bad-stage', { family: String(family), problem });
  };
}

/**
 * Checks a row.
 *
 * @throws SluiceError `bad-stage`, naming the family and the column.
 */
export function checkStage(given: unknown): void {
  const spec = given as AnySpec; // the generic row, read by its columns
  const refuse: (problem: string) => never = refusalOf(given);
  if (typeof given !== 'object' || given === null) refuse('a row is an object');
  if (!Array.isArray(spec.classes)) refuse('classes must be a list');
  for (const column of ['payload', 'patch', 'annotations', 'selection'] as const)
    checkSchema(column, spec[column], refuse);
  if (!/^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/.test(spec.family))
    refuse('its name must be lower-case words joined by dots');
  if (spec.classes.length === 0) refuse('it allows no handler class');
  for (const name of spec.classes)
    if (!handlerClasses.includes(name)) refuse(`"${name}" is no handler class`);
  if (new Set(spec.classes).size !== spec.classes.length) refuse('a class is listed twice');
  if (!executionModes.includes(spec.mode)) refuse(`"${spec.mode}" is no execution mode`);
  if (spec.emitter !== undefined && !emitters.includes(spec.emitter))
    refuse(`emitter must be one of ${emitters.join(', ')}`);
  if (spec.emittedBy !== undefined && !emissionSources.includes(spec.emittedBy))
    refuse(`emittedBy must be one of ${emissionSources.join(', ')}`);
  if (spec.mode === 'parallel' && spec.classes.some((name) => name !== 'observer'))
    refuse('a parallel stage allows observers only');
  for (const [name, column] of written)
    if (spec.classes.includes(name) !== (spec[column] !== undefined))
      refuse(`a stage has the schema "${column}" exactly if it allows ${name}s`);
  if (spec.cancelReplies === true && !spec.classes.includes('veto'))
    refuse('a stage takes replies of cancels only if it allows vetoes');
  if (spec.asks === true && (!spec.classes.includes('veto') || spec.mode !== 'sequential'))
    refuse('vetoes can ask a human only on a sequential stage that allows vetoes');
  const payloadFields = Object.keys(spec.payload.properties);
  const patchFields = Object.keys(spec.patch?.properties ?? {});
  const annotationFields = Object.keys(spec.annotations?.properties ?? {});
  for (const field of [...payloadFields, ...patchFields, ...annotationFields])
    if (field in Object.prototype) refuse(`"${field}" is a name that every object has already`);
  for (const field of patchFields)
    if (!payloadFields.includes(field)) refuse(`patch field "${field}" is no field of the payload`);
  const within = (column: string, names: readonly string[], fields: readonly string[]): void => {
    for (const name of names)
      if (!fields.includes(name)) refuse(`${column} names "${name}", which is no field there`);
  };
  within('laws', Object.keys(spec.laws ?? {}), patchFields);
  within('trusted', spec.trusted ?? [], patchFields);
  within('shared', spec.shared ?? [], payloadFields);
  within('replaceable', spec.replaceable ?? [], annotationFields);
  for (const [field, law] of Object.entries(spec.laws ?? {})) {
    const name: string | undefined = typeof law === 'object' ? String(law.law) : law;
    if (name !== undefined && !(patchLaws as readonly string[]).includes(name))
      refuse(`laws.${field} is "${name}", which is no patch law`);
  }
  for (const column of ['timeoutMs', 'stageTimeoutMs'] as const) {
    const value = spec[column];
    if (value !== undefined && !(Number.isFinite(value) && value > 0))
      refuse(`${column} must be a positive number of milliseconds`);
  }
}

function checkSchema(
  column: 'payload' | 'patch' | 'annotations' | 'selection',
  schema: Schema | StandardSchema | undefined,
  refuse: (problem: string) => never,
): void {
  if (column === 'selection' && isStandard(schema)) return;
  if (schema === undefined && column !== 'payload') return;
  if (typeof schema !== 'object' || schema === null || isStandard(schema))
    refuse(`${column} must be a JSON Schema${column === 'payload' ? ' or a Standard Schema' : ''}`);
  if (column !== 'selection' && (schema.type !== 'object' || schema.properties === undefined))
    refuse(`${column} must be the schema of an object, with its properties`);
  const unknown = unknownKeyword(schema);
  if (unknown !== undefined)
    refuse(`${column} says "${unknown}", which the kernel does not know: give a Standard Schema`);
}
