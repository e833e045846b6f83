import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkConfig, type HostConfig } from '@sluice/host/internal';
import type { JournalKind } from '@sluice/journal/internal';
import { openToOthers } from '@sluice/journal/internal';
import { importableUrl, importError } from '@sluice/sdk/extension/internal';
import { type ParseError, parse } from 'jsonc-parser';
import { oneLine } from 'sluice-kernel/internal';
import { CommandError, ConfigError } from '../errors/command-error.js';
import { checkFile, fileError } from '../errors/file-error.js';
import { flagError, type PipelineOptions, withFlags } from './flags.js';
import { addressProblems } from './journal-place.js';

/** The names of a config file in the folder of the command, if the command line names none. */
export const configNames = ['ts', 'mts', 'js', 'mjs', 'json'].map((end) => `sluice.config.${end}`);

/** A config file, read and checked. */
export interface LoadedConfig extends HostConfig {
  /** The file's path. */
  readonly file: string;
  /** The folder of the file, from which its paths are read. */
  readonly folder: string;
  /** The config as it is written: with the references, and without the secrets. */
  readonly written: unknown;
  /** The texts that came from the environment or from files. No log may hold them. */
  readonly secrets: readonly string[];
  /** The secret files that others than their owner may read, with their modes in octal digits. */
  readonly exposed: ReadonlyMap<string, string>;
}

/** The place of a command, in which it looks for a config. */
interface ConfigPlace {
  /** The folder of the command. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The kinds of journals that a config may name by an address. */
  readonly journals: readonly JournalKind[];
}

/**
 * Finds the config file of a folder.
 *
 * @throws CommandError `bad-config` if there are several.
 */
export function findConfigFile(cwd: string): string | undefined {
  const [found, other] = configNames.filter((name) => existsSync(resolve(cwd, name)));
  if (other === undefined) return found;
  throw new CommandError(
    'bad-config',
    `${found} and ${other} are both here`,
    'Keep one of them, or name one by --config.',
  );
}

/**
 * Reads a config file: JSON, or a module whose default export is the config.
 *
 * @throws CommandError `missing-file` or `unreadable-file`; ConfigError with every problem of the config.
 */
export async function readConfigFile(
  file: string,
  place: ConfigPlace,
  given: PipelineOptions = {},
): Promise<LoadedConfig> {
  const path = resolve(place.cwd, file);
  const written =
    extname(path) === '.json' ? await readJson(path, file) : await readModule(path, file);
  const folder = dirname(path);
  const exposed = new Map<string, string>();
  const readSecretFile = (secret: string): string => {
    const at = resolve(folder, secret);
    const mode = openToOthers(at);
    if (mode !== undefined) exposed.set(at, mode);
    return readFileSync(at, 'utf8');
  };
  const { secrets, ...config } = checkedConfig(file, written, place, given, readSecretFile);
  return { ...located(config, folder), file, folder, written, secrets, exposed };
}

/**
 * Checks a config, as it is written, with the flags of the command line over it.
 *
 * @throws CommandError `bad-arguments` if a flag is wrong; ConfigError with every problem of the config.
 */
export function checkedConfig(
  file: string,
  written: unknown,
  { cwd, env, journals }: ConfigPlace,
  given: PipelineOptions,
  readSecretFile: (path: string) => string = String,
): HostConfig & Pick<LoadedConfig, 'secrets'> {
  const verdict = checkConfig(withFlags(written, given, cwd), { env, readSecretFile });
  const problems = verdict.ok
    ? addressProblems(verdict.config.journal?.url, journals)
    : verdict.problems;
  if (!verdict.ok || problems.length > 0)
    throw flagError(given, problems) ?? new ConfigError(file, problems);
  return { ...verdict.config, secrets: verdict.secrets };
}

/** The settings of all plugins, for a command that looks at one. @param config was read with the same options. */
export function legacySetting(
  config: LoadedConfig | undefined,
  shell: ConfigPlace,
  given: PipelineOptions,
): NonNullable<HostConfig['legacy']> {
  return (config ?? checkedConfig('the command line', {}, shell, given)).legacy ?? {};
}

/** Reads the paths of a config from its folder. */
function located(config: HostConfig, folder: string): HostConfig {
  const { journal, stateDir, legacy, logging, gateway } = config;
  const at = (path: string): string => resolve(folder, path);
  return {
    ...config,
    ...(journal !== undefined && { journal: journalAt(journal, at) }),
    ...(stateDir !== undefined && { stateDir: at(stateDir) }),
    ...(legacy?.openclaw !== undefined && { legacy: { ...legacy, openclaw: at(legacy.openclaw) } }),
    ...(logging.file !== undefined && { logging: { ...logging, file: at(logging.file) } }),
    ...(gateway?.device !== undefined && { gateway: { ...gateway, device: at(gateway.device) } }),
  };
}

function journalAt(
  { path, record, ...journal }: NonNullable<HostConfig['journal']>,
  at: (path: string) => string,
): NonNullable<HostConfig['journal']> {
  const { checkpoints } = record ?? {};
  return {
    ...journal,
    ...(path !== undefined && { path: at(path) }),
    ...(record !== undefined && {
      record: {
        key: at(record.key),
        ...(checkpoints !== undefined && { checkpoints: at(checkpoints) }),
      },
    }),
  };
}

async function readJson(path: string, file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw fileError(cause, file, 'Check the path after --config.');
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(
      'bad-config',
      `${file} is not JSON${jsonProblem(cause, text)}`,
      'Fix the JSON there; comments and trailing commas are not allowed.',
    );
  }
}

/** Names the place and the reason, but not the text around the place that the error may quote: it may be a secret. */
function jsonProblem(thrown: unknown, text: string): string {
  const [, what = ''] =
    /^(.*?)(?:, (?:\.\.\.)?".*)?(?: in JSON)?(?: at position .*)?$/s.exec(
      oneLine(thrown).replace(/^SyntaxError: /, ''),
    ) ?? [];
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const before = text.slice(0, errors[0]?.offset).split('\n');
  return `: ${what} at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

async function readModule(path: string, file: string): Promise<unknown> {
  checkFile(path, file, 'Check the path after --config.');
  let exported: { readonly default?: unknown };
  try {
    exported = await import(importableUrl(pathToFileURL(path).href));
  } catch (thrown) {
    const error = importError(thrown, file, path, dirname(path));
    const what =
      error.code === 'module-failed'
        ? `config ${file} could not be imported: ${error.details['problem']}`
        : error.message;
    const hint = /\.[cm]?[jt]s$/.test(path)
      ? error.hint
      : 'Name a file that ends in .ts, .mts, .js, .mjs or .json.';
    throw new CommandError('unreadable-file', what, hint, { cause: error });
  }
  if (exported.default !== undefined) return exported.default;
  throw new CommandError(
    'bad-config',
    `${file} has no default export`,
    'Write `export default defineConfig({ ... })`, with defineConfig of sluice/host.',
  );
}
