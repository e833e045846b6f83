import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { nearest, oneLine } from '../kernel/index.js';
import { CommandError } from './command-error.js';
import { fileError } from './file-error.js';

const overrideSchema = z.strictObject({
  disabled: z.boolean().exactOptional(),
  priority: z.number().exactOptional(),
  timeoutMs: z.number().positive().exactOptional(),
});

const configSchema = z.strictObject({
  agent: z
    .string()
    .regex(
      /^(echo|replay:.+|claude(:.+)?)$/,
      'expected "echo", "replay:FILE", "claude" or "claude:MODEL"',
    )
    .exactOptional(),
  channel: z.string().min(1).exactOptional(),
  extensions: z
    .array(z.strictObject({ path: z.string().min(1), config: z.unknown().exactOptional() }))
    .default([]),
  plugins: z
    .array(
      z.strictObject({
        path: z.string().min(1),
        config: z.record(z.string(), z.unknown()).exactOptional(),
        trusted: z.boolean().exactOptional(),
        unsupported: z.enum(['refuse', 'skip']).exactOptional(),
      }),
    )
    .default([]),
  openclaw: z.record(z.string(), z.unknown()).default({}),
  grants: z.record(z.string(), z.array(z.string())).default({}),
  overrides: z.record(z.string(), overrideSchema).default({}),
});

/**
 * What a config file holds. Paths in it are read from the folder that it is in.
 *
 * @example
 * { "agent": "echo", "extensions": [{ "path": "./quiet-hours.js", "config": { "from": "22:00" } }] }
 */
export type FileConfig = z.infer<typeof configSchema>;

/** A config file, read and checked. */
export interface LoadedConfig extends FileConfig {
  /** The folder that its paths are read from. */
  readonly folder: string;
}

/**
 * Reads a config file.
 *
 * @throws CommandError `missing-file`, `unreadable-file` or `bad-config`, naming the file and the path in it.
 */
export async function readConfigFile(file: string, cwd: string): Promise<LoadedConfig> {
  const path = resolve(cwd, file);
  const text = await textOf(path, file);
  return { ...parseConfig(text, file), folder: dirname(path) };
}

/** Parses and checks the text of a config file. */
export function parseConfig(text: string, file: string): FileConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CommandError(
      'bad-config',
      `${file} is not JSON (${oneLine(cause)})`,
      'Mend the JSON there; comments and trailing commas are not allowed.',
      { cause },
    );
  }
  const result = configSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw result.error; // zod reports every refusal as an issue
  throw configError(issue, file);
}

function configError(issue: z.core.$ZodIssue, file: string): CommandError {
  const at = z.core.toDotPath(issue.path) || 'its top level';
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const close = nearest(key, knownKeys(issue.path));
    return new CommandError(
      'bad-config',
      `${file}: ${at} has the unknown key "${key}"`,
      close === undefined
        ? `Known keys: ${knownKeys(issue.path).join(', ')}.`
        : `Did you mean "${close}"?`,
    );
  }
  return new CommandError(
    'bad-config',
    `${file} at ${at}: ${issue.message}`,
    'Mend the value there; `sluice run --help` shows an example.',
  );
}

/** The keys that an object of the config may have. */
function knownKeys(path: readonly PropertyKey[]): string[] {
  switch (path[0]) {
    case 'extensions':
      return ['path', 'config'];
    case 'plugins':
      return ['path', 'config', 'trusted', 'unsupported'];
    case 'overrides':
      return Object.keys(overrideSchema.shape);
    default:
      return Object.keys(configSchema.shape);
  }
}

async function textOf(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw fileError(cause, file, 'Check the path after --config.');
  }
}
