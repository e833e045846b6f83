import { unknownKeyword } from '../schema/check.js';
import type { ObjectSchema, Schema } from '../schema/schema.js';
import { type StandardSchema, standardCheck, standardVerdict } from '../schema/standard.js';
import { sameData } from '../value/same-data.js';
import type { Named } from './named.js';
import type { StageSpec } from './stage.js';
import type { ExecutionMode, HandlerClass, PatchLaw, PatchLawSpec } from './vocabulary.js';

/**
 * The row of a stage whose payload has a Standard Schema, such as one of zod. The kernel reads the issues of the schema and ignores
 * the value that it returns, so a schema judges, and changes nothing.
 */
export interface OwnStageSpec<
  F extends string,
  C extends HandlerClass,
  M extends ExecutionMode,
  O extends object,
  L extends { readonly [Field in keyof O]?: PatchLawSpec },
  A extends ObjectSchema,
  S extends Schema | StandardSchema,
  K extends string,
  R extends boolean,
  U extends boolean,
  B extends boolean,
> extends Omit<
    StageSpec<F, C, M, Named<O>, Named<Pick<O, keyof L & keyof O>>, A, S, K, R, U, B>,
    'payload' | 'patch' | 'laws'
  > {
  /** The schema of the payload. It answers synchronously, and gives the value that it was given. */
  readonly payload: StandardSchema<O>;
  /** A payload that fits: `defineStage` asks the schema with it. */
  readonly sample: O;
  /** All the fields that a patch may write, each with its law. */
  readonly laws?: L;
}

/** A row as it is given, before it is known to be one. */
interface GivenRow {
  readonly payload: StandardSchema;
  readonly sample?: unknown;
  readonly laws?: Readonly<Record<string, PatchLawSpec | undefined>>;
  readonly shared?: readonly string[];
  readonly patch?: ObjectSchema;
}

/** The columns that a row with a Standard Schema has in place of its own: the fields as JSON Schema. */
export function columnsOf(
  given: object,
  refuse: (problem: string) => never,
): { readonly payload: ObjectSchema; readonly patch?: ObjectSchema } {
  const { payload: schema, sample, laws = {}, shared = [], patch } = given as GivenRow;
  if (patch !== undefined) refuse('a row with a Standard Schema has laws, and no patch schema');
  if (typeof sample !== 'object' || sample === null)
    refuse('a row with a Standard Schema has a sample: a payload that fits');
  const misfit = standardCheck(schema)(sample);
  if (misfit !== undefined)
    refuse(`the sample does not fit at ${misfit.path || '/'}: ${misfit.problem}`);
  const verdict = standardVerdict(schema, sample);
  if (verdict.issues === undefined && !sameData(verdict.value, sample))
    refuse('its schema changes the sample');
  const names = [...Object.keys(sample as object), ...Object.keys(laws), ...shared];
  const payload = {
    type: 'object',
    properties: { ...Object.fromEntries(names.map((name) => [name, {}])), ...toldFields(schema) },
  } as const;
  const fields = Object.entries(laws).map(([name, law = 'replace']) => {
    const { law: named } = typeof law === 'string' ? { law } : law;
    return [name, lawSchemas[named] ?? {}] as const;
  });
  if (fields.length === 0) return { payload };
  return { payload, patch: { type: 'object', properties: Object.fromEntries(fields) } };
}

/** The values that a law can join. `null` clears. */
const lawSchemas: Readonly<Partial<Record<PatchLaw, Schema>>> = {
  append: { anyOf: [{ type: 'array' }, { type: 'null' }] },
  'merge-keys': { anyOf: [{ type: 'object' }, { type: 'null' }] },
  'prepend-text': { anyOf: [{ type: 'string' }, { type: 'null' }] },
  'append-text': { anyOf: [{ type: 'string' }, { type: 'null' }] },
};

/** The fields that a Standard Schema tells of as JSON Schema, if it can: a match may name them. */
function toldFields(schema: StandardSchema): ObjectSchema['properties'] {
  try {
    const { jsonSchema } = schema['~standard'];
    const { properties } = Object(jsonSchema?.input({ target: 'draft-2020-12' }));
    const fields = Object.entries<Schema>(Object(properties));
    return Object.fromEntries(fields.filter(([, field]) => unknownKeyword(field) === undefined));
  } catch {
    return {}; // a part of it has no JSON Schema
  }
}
