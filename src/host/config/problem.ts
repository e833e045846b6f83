import { z } from 'zod';
import { nearest, oneLine } from '../../kernel/index.js';
import { configSchema } from './schema.js';
import { describedAt, knownKeysAt } from './schema-node.js';

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
const toldKeys = 20;

/** Turns an issue of zod into problems. Each unknown key is a problem of its own. */
export function problemsOf(issue: z.core.$ZodIssue): ConfigProblem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, toldKeys).map((key) => ({
      path: [...path, key],
      message: `there is no setting ${oneLine(JSON.stringify(key))}`,
      hint: hintForKey(key, knownKeysAt(configSchema, path)),
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

function hintForKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  return close === undefined ? `Known: ${known.join(', ')}.` : `Did you mean "${close}"?`;
}

/**
 * A place in a config as a program would write it.
 *
 * @example
 * placeOf(['extensions', 0, 'path']); // 'extensions[0].path'
 */
export function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'its top level';
  return oneLine(z.core.toDotPath([...path])) || oneLine(JSON.stringify(path));
}
