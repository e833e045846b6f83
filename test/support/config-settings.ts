import { z } from 'zod';
import { describedAt, knownKeysAt, schemaNodeAt } from '../../src/host/config/problem.js';

/** One setting of a config file, for people. */
export interface Setting {
  /** `extensions[].path`, or `overrides.*.priority`. */
  readonly place: string;
  readonly type: string;
  /** What to write there; empty where nothing says. */
  readonly what: string;
}

/** Every setting that a config schema knows, from the top down. */
export function everySetting(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[] = [],
  place = '',
): Setting[] {
  return knownKeysAt(schema, path).flatMap((key) => {
    let at: readonly PropertyKey[] = [...path, key];
    let name = `${place}${key}`;
    const setting = {
      place: name,
      type: typeOf(schemaNodeAt(schema, at)),
      what: describedAt(schema, at) ?? '',
    };
    for (let node = schemaNodeAt(schema, at); ; node = schemaNodeAt(schema, at)) {
      if (node instanceof z.ZodArray) [at, name] = [[...at, 0], `${name}[]`];
      else if (node instanceof z.ZodRecord) [at, name] = [[...at, 'any'], `${name}.*`];
      else break;
    }
    return [setting, ...everySetting(schema, at, `${name}.`)];
  });
}

function typeOf(node: z.core.$ZodType | undefined): string {
  if (node instanceof z.ZodEnum) return node.options.map((one) => `"${one}"`).join(', ');
  if (node instanceof z.ZodArray) return 'list';
  if (node instanceof z.ZodRecord || node instanceof z.ZodObject) return 'object';
  if (node instanceof z.ZodUnknown) return 'anything';
  const { type = '' } = node?._zod.def ?? {};
  return type === 'custom' ? 'function' : type;
}
