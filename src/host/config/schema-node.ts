import { z } from 'zod';

/** The schema of a place in a config, without the wrappers that make it optional. Nothing where it has none. */
export function schemaNodeAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): z.core.$ZodType | undefined {
  let node: z.core.$ZodType | undefined = bare(schema);
  for (const key of path) {
    if (node === undefined) return undefined;
    node = childOf(node, key);
  }
  return node;
}

/** What is written under a key of a schema: the keys of an object, whatever key of a record or list. */
function childOf(node: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  if (node instanceof z.ZodObject) {
    const child = Object.hasOwn(node.shape, key) ? node.shape[String(key)] : undefined;
    return child === undefined ? undefined : bare(child);
  }
  if (node instanceof z.ZodArray) return bare(node.element);
  if (node instanceof z.ZodRecord) return bare(node.valueType);
  return undefined;
}

function bare(schema: z.core.$ZodType): z.core.$ZodType {
  let node = schema;
  while (node instanceof z.core.$ZodOptional || node instanceof z.core.$ZodDefault)
    node = node._zod.def.innerType;
  return node;
}

/** What to write at a place: the description that it, or a wrapper around it, carries. */
export function describedAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): string | undefined {
  const node = schemaNodeAt(schema, path);
  return node === undefined ? undefined : z.globalRegistry.get(node)?.description;
}

/** The keys that an object may have; none where any will do. */
export function knownKeysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const node = schemaNodeAt(schema, path);
  return node instanceof z.ZodObject ? Object.keys(node.shape) : [];
}
