import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser';
import type { JsonObject } from '../agents/codec.js';
import { isObject } from '../agents/reading.js';

/** A file cannot be read or written as it has to be. The message is one line, which names the file. */
export class GuardError extends Error {
  override readonly name = 'GuardError';
}

/** The groups of hooks of an agent, by the names of hooks. */
export type Groups = ReadonlyMap<string, JsonObject>;

/**
 * Reads settings as they stand: JSON, which may have comments.
 *
 * @throws GuardError if they are broken, or their hooks are not where an agent looks for them.
 */
export function readSettings(text: string, file: string): JsonObject {
  const errors: ParseError[] = [];
  const read: unknown = parse(text || '{}', errors, { allowTrailingComma: true });
  const [broken] = errors;
  if (broken !== undefined) {
    const line = text.slice(0, broken.offset).split('\n').length;
    throw new GuardError(`${file} is no JSON, at line ${line}: mend it first`);
  }
  if (!isObject(read)) throw new GuardError(`${file} must hold a JSON object: mend it first`);
  if (!isObject(read['hooks'] ?? {}))
    throw new GuardError(`"hooks" of ${file} must be an object: mend it first`);
  return read;
}

/** The groups of one hook. */
export function groupsIn(settings: JsonObject, hook: string): readonly unknown[] {
  const hooks = isObject(settings['hooks']) ? settings['hooks'] : {};
  const groups = Object.hasOwn(hooks, hook) ? hooks[hook] : [];
  return Array.isArray(groups) ? groups : [];
}

/** Returns true if a group calls a guard for a hook of an agent. */
export function isOurs(group: unknown, agent: string, hook: string): boolean {
  return JSON.stringify(group).includes(`client.js' ${agent} ${hook} `);
}

/** Puts the groups of the guard into settings, in the place of those that are there. All other bytes stay. */
export function withGroups(
  text: string,
  file: string,
  agent: string,
  groups: Groups,
  head: JsonObject = {},
): string {
  let left = withoutGroups(text || JSON.stringify(head), file, agent, [...groups.keys()]);
  for (const [hook, group] of groups) {
    const { hooks } = readSettings(left, file);
    const { [hook]: there = [] }: JsonObject = isObject(hooks) ? hooks : {};
    if (!Array.isArray(there))
      throw new GuardError(`"hooks.${hook}" of ${file} must be a list: mend it first`);
    left = put(left, ['hooks', hook, there.length], group);
  }
  return text === '' ? `${JSON.stringify(parse(left), undefined, 2)}\n` : left;
}

/** Takes the groups of the guard away, and lists that are empty then. */
export function withoutGroups(
  text: string,
  file: string,
  agent: string,
  hooks: readonly string[],
): string {
  let left = text;
  for (const hook of hooks) {
    const groups = groupsIn(readSettings(left, file), hook);
    const ours = groups.flatMap((group, at) => (isOurs(group, agent, hook) ? [at] : []));
    if (ours.length === 0) continue;
    if (ours.length === groups.length) left = without(left, ['hooks', hook]);
    else for (const at of ours.reverse()) left = without(left, ['hooks', hook, at]);
    if (isDeepStrictEqual(readSettings(left, file)['hooks'], {})) left = without(left, ['hooks']);
  }
  return left;
}

/** Without a layout: laying out would change the lines around. What is put in begins a line. */
function put(text: string, path: JSONPath, value: unknown): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const edits = modify(text, path, value, {}).map((one) => ({
    ...one,
    content: one.content.replace(/^,?(?=[^,])/, (comma) => comma + eol),
  }));
  return applyEdits(text, edits);
}

/** Takes a value away with its comma; `modify` breaks a list that ends in the same line. */
function without(text: string, path: JSONPath): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const value = tree && findNodeAtLocation(tree, path);
  const node = value?.parent?.type === 'property' ? value.parent : value;
  if (node === undefined) return text;
  const beside = node.parent?.children ?? [];
  const at = beside.indexOf(node);
  const [before, next] = [beside[at - 1], beside[at + 1]];
  const end = node.offset + node.length;
  if (before) return text.slice(0, before.offset + before.length) + text.slice(end);
  const rest = next ? text.slice(next.offset) : text.slice(end).replace(/^\s*,/, '');
  return text.slice(0, node.offset) + rest;
}
