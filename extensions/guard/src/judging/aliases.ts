import { type AgentCodec, type Heard, HookInputError, type JsonObject } from '../agents/codec.js';
import { realPath } from './paths.js';

/** A call of a tool in the words that rules share. */
export interface SharedCall {
  /** `shell`, `read`, `write` or `fetch`; the agent's own name for a tool without an alias. */
  readonly toolName: string;
  readonly params: JsonObject;
  /** The real paths of a call that names several: each is judged as its `path`. */
  readonly paths?: readonly string[];
}

/**
 * Says a call in the shared words: a path is the real one, a URL in its normal form, and a command one text of shell.
 *
 * @throws HookInputError if the words clash, or a path cannot be read for certain.
 */
export function toShared(codec: AgentCodec, heard: Heard): SharedCall {
  const { toolName, params = {}, workspaceDir } = heard;
  if (toolName === undefined) throw new HookInputError('the call names no tool');
  const alias = aliasOf(codec, toolName);
  const shared = Object.entries(params).map(([own, value]): [string, unknown] => {
    const name = ownValue(alias?.params, own);
    return name === undefined ? [own, value] : [name, sharedValue(name, own, value, workspaceDir)];
  });
  const paths = alias?.files?.(params).map((file) => realPath(file, workspaceDir));
  return {
    ...{ toolName: alias?.is ?? toolName, params: withoutClash(toolName, shared) },
    ...(paths && { paths: [...new Set(paths)] }),
  };
}

/**
 * Says parameters that a handler may have changed in the agent's own words. What is as it was judged is as the agent wrote it.
 *
 * @throws HookInputError as `toShared` does.
 */
export function fromShared(codec: AgentCodec, heard: Heard, params: JsonObject): JsonObject {
  const { toolName = '', params: written = {} } = heard;
  const judged = toShared(codec, heard).params;
  const pairs = Object.entries(aliasOf(codec, toolName)?.params ?? {});
  const own = Object.entries(params).map(([name, value]): [string, unknown] => {
    const names = pairs.flatMap(([one, shared]) => (shared === name ? [one] : []));
    const ownName = names.find((one) => Object.hasOwn(written, one)) ?? names[0];
    if (ownName === undefined) return [name, value];
    const before = ownValue(written, ownName);
    if (value === ownValue(judged, name)) return [ownName, before];
    return [ownName, Array.isArray(before) ? ['bash', '-c', value] : value];
  });
  return withoutClash(toolName, own);
}

function aliasOf({ tools }: AgentCodec, toolName: string) {
  return ownValue(tools, toolName);
}

/** Reads an own property: a name from outside may be `constructor`. */
function ownValue<T>(fields: Readonly<Record<string, T>> = {}, name: string): T | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function sharedValue(shared: string, own: string, value: unknown, workspaceDir: string): unknown {
  if (shared === 'command' && Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.map(quoted).join(' ');
  if (value === null) return value;
  if (typeof value !== 'string') throw new HookInputError(`the parameter "${own}" must be a text`);
  if (shared === 'path') return realPath(value, workspaceDir);
  return shared === 'url' && URL.canParse(value) ? new URL(value).href : value;
}

/** A word of a command, in quotes unless the shell reads it as it is. */
function quoted(word: string): string {
  return /^[\w/.:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function withoutClash(toolName: string, entries: readonly [string, unknown][]): JsonObject {
  const names = new Set<string>();
  for (const [name] of entries) {
    if (names.has(name))
      throw new HookInputError(`the call of ${toolName} says "${name}" twice, in two words`);
    names.add(name);
  }
  return Object.fromEntries(entries);
}
