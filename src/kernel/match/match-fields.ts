import { refFields } from '../outcome/envelope.js';
import type { MatchField, MatchScalar, ScalarType } from '../outcome/matching.js';
import type { Schema } from '../schema/schema.js';
import type { Stage } from '../stage/stage.js';

/** How many names a key may join: `message.sender.id` has three. */
export const deepest = 3;

/** The refs that a match may name. No two events have one message ref, so that one is left out. */
const matchedRefs = refFields.filter((name) => name !== 'messageRef');

const refParts = ['channel', 'id'] as const;

/** The proven fields of a principal. Its `senderName` is left out: anybody may take any name. */
const ofPrincipal: Readonly<Record<string, ScalarType>> = {
  channel: 'string',
  accountId: 'string',
  conversationId: 'string',
  senderId: 'string',
  isOwner: 'boolean',
  roles: 'string',
};

const ids = ['workspaceId', 'agentId', 'sessionId'] as const;

/**
 * The fields that a match on a stage may name, by their key: scalars of the payload that no patch can write, and the refs, ids and
 * principal that the dispatch has beside its payload (judgement §2.1).
 */
export function matchFields(stage: Stage): ReadonlyMap<string, MatchField> {
  const fields = new Map<string, MatchField>();
  const add = (field: MatchField): void => void fields.set(field.key, field);
  const patched = Object.keys(stage.patch?.properties ?? {});
  for (const [name, schema] of Object.entries(stage.payload.properties))
    if (!patched.includes(name) && !stage.shared.includes(name))
      for (const field of fieldsIn(schema, [name])) add(field);
  const others = [
    ...ids.map((id) => [id]),
    ...matchedRefs.flatMap((ref) => refParts.map((part) => [ref, part])),
  ];
  for (const path of others) {
    const [head = ''] = path;
    if (!Object.hasOwn(stage.payload.properties, head)) add(beside(path)); // the payload's own field has the name
  }
  if (stage.principal && !Object.hasOwn(stage.payload.properties, 'principal'))
    for (const [name, type] of Object.entries(ofPrincipal))
      add({ ...beside(['principal', name], type), isList: name === 'roles' });
  return fields;
}

function beside(path: readonly string[], type: ScalarType = 'string'): MatchField {
  const key = path.join('.');
  return { key, from: 'origin', path, types: [type], values: undefined, isList: false };
}

/** The scalars at a path of the payload, and below it. */
function fieldsIn(schema: Schema, path: readonly string[]): MatchField[] {
  const { properties } = schema;
  if (properties !== undefined)
    return path.length === deepest
      ? []
      : Object.entries(properties).flatMap(([name, inner]) => fieldsIn(inner, [...path, name]));
  const scalar = scalarOf(schema);
  if (scalar === undefined) return [];
  return [{ key: path.join('.'), from: 'payload', path, ...scalar, isList: false }];
}

/** The types and the listed values of a schema of scalars; nothing if the schema takes anything else. */
function scalarOf(schema: Schema): Pick<MatchField, 'types' | 'values'> | undefined {
  const { type, const: only, enum: listed, anyOf } = schema;
  const values = only === undefined ? listed : [only];
  if (values !== undefined) {
    const known = values.filter((value) => value !== null);
    return known.length > 0 && known.every(isScalar)
      ? { types: [...new Set(known.map((value) => typeof value as ScalarType))], values: known }
      : undefined;
  }
  if (anyOf !== undefined) return anyOfScalars(anyOf.filter(({ type: one }) => one !== 'null'));
  const name = type === 'integer' ? 'number' : type;
  if (name !== 'string' && name !== 'number' && name !== 'boolean') return undefined;
  return { types: [name], values: undefined };
}

function anyOfScalars(parts: readonly Schema[]): ReturnType<typeof scalarOf> {
  const scalars = parts.map(scalarOf);
  if (scalars.length === 0 || scalars.includes(undefined)) return undefined;
  const types = [...new Set(scalars.flatMap((one) => one?.types ?? []))];
  const listed = scalars.map((one) => one?.values);
  return { types, values: listed.includes(undefined) ? undefined : listed.flatMap((v) => v ?? []) };
}

/** Returns whether a match can compare with a value. */
export function isScalar(value: unknown): value is MatchScalar {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}
