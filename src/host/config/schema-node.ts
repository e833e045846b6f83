import { z } from 'zod';

/** Finds the schema of a place in a config, without the wrappers that make it optional. */
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

/** Finds the schema under a key: of an object under a key that it has, of a record or a list under any key. */
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

/** Returns the description of a place, which says how the setting is written. */
export function describedAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): string | undefined {
  const node = schemaNodeAt(schema, path);
  return node === undefined ? undefined : z.globalRegistry.get(node)?.description;
}

/** Returns the keys that an object may have; none if it takes any key. */
export function knownKeysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const node = schemaNodeAt(schema, path);
  return node instanceof z.ZodObject ? Object.keys(node.shape) : [];
}
