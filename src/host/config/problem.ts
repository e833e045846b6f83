import { nearestHint, oneLine } from 'sluice-kernel/internal';
import { z } from 'zod';
import { configSchema } from './schema.js';

/** One problem of a config, with its place and its cure. */
export interface ConfigProblem {
  /** The keys that lead to the place; none for the top level. */
  readonly path: readonly PropertyKey[];
  /** The problem in one line. */
  readonly message: string;
  /** The cure. */
  readonly hint: string;
}

/** The unknown keys of one object that are named: an object with more of them is another kind of file. */
const reportedKeys = 20;

/** Turns an issue of zod into problems. Each unknown key is a problem of its own. */
export function problemsOf(issue: z.core.$ZodIssue): ConfigProblem[] {
  const { path } = issue;
  const known = knownKeysAt(configSchema, path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, reportedKeys).map((key) => ({
      path: [...path, key],
      message: `there is no setting ${oneLine(JSON.stringify(key))}`,
      hint: nearestHint(key, known, `Known: ${known.join(', ')}.`),
    }));
  const described = describedAt(configSchema, path);
  return [
    {
      path,
      message: oneLine(issue.message.replace(/^Invalid input: /, '')),
      hint:
        described === undefined ? 'See spec/config.md for what goes there.' : `Write ${described}.`,
    },
  ];
}

/** Finds the schema of a place in a config, without the wrappers that make it optional. */
export function schemaNodeAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): z.core.$ZodType | undefined {
  let node: z.core.$ZodType | undefined = bare(schema);
  for (const key of path) node = node && childOf(node, key);
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
  return node instanceof z.core.$ZodPipe ? node._zod.def.out : node; // a text may be written for the object
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
