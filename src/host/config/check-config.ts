import { oneLine } from 'sluice-kernel/internal';
import { type ConfigProblem, problemsOf } from './problem.js';
import { configSchema, type HostConfig } from './schema.js';

/** The verdict on a config: a union by `ok`. */
export type ConfigVerdict =
  | {
      readonly ok: true;
      readonly config: HostConfig;
      /** The texts that came from the environment or from files. No log may hold them. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** The problems that a verdict names. Those beyond are counted. */
const reportedProblems = 50;

/**
 * Checks a config, and fills in the values that it takes from the environment. The verdict names every problem, each with
 * its place and its cure. It takes anything, and never throws (spec §20).
 *
 * @example
 * const verdict = checkConfig(JSON.parse(text), { env: process.env, readSecretFile });
 * if (verdict.ok) run(verdict.config);
 * else for (const { path, message, hint } of verdict.problems) console.error(placeOf(path), message, hint);
 */
export function checkConfig(value: unknown, sources: SecretSources): ConfigVerdict {
  const filled = fillReferences(value, sources);
  if (filled.isTooLarge) return { ok: false, problems: filled.problems };
  const result = configSchema.safeParse(filled.value);
  const problems = [
    ...filled.problems,
    ...(result.error?.issues ?? [])
      .filter(({ path }) => !filled.problems.some((other) => isWithin(path, other.path)))
      .flatMap(problemsOf),
  ];
  if (result.data === undefined || problems.length > 0) return refused(problems);
  return { ok: true, config: result.data, secrets: filled.secrets };
}

/** A place that could not be filled in has one problem; the schema would name it as missing, too. */
function isWithin(path: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return other.every((key, at) => path[at] === key);
}

function refused(problems: readonly ConfigProblem[]): ConfigVerdict {
  const rest = problems.length - reportedProblems;
  if (rest <= 0) return { ok: false, problems };
  const more = { path: [], message: `${rest} more problems`, hint: 'Fix the others first.' };
  return { ok: false, problems: [...problems.slice(0, reportedProblems), more] };
}

/** The sources of the secrets of a config. */
interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file that holds one secret. The path is as the config has it. */
  readonly readSecretFile: (path: string) => string;
}

/** The levels and the values of a config at most: one that has more is a mistake, or has a cycle. */
const deepest = 64;
const most = 20_000;

/**
 * Fills in the references of a config: `{ env: 'NAME' }` stands for a variable of the environment and
 * `{ secretFile: 'PATH' }` for a file's text, anywhere in the config (spec §20). Names of variables are in upper case,
 * so that a setting that happens to be called `env` stays what it is. The config is not written to.
 *
 * @returns the config, its problems, and the texts that were filled in, which no log may hold. `isTooLarge`: it was not
 *   filled in.
 */
function fillReferences(config: unknown, sources: SecretSources) {
  const problems: ConfigProblem[] = [];
  const secrets: string[] = [];
  let values = 0;
  const fill = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (++values > most) return undefined; // one problem for all of it follows
    if (!isContainer(value)) return value;
    if (path.length > deepest) {
      const hint = 'Write it flatter.';
      problems.push({ path, message: `it is nested deeper than ${deepest} levels`, hint });
      return undefined;
    }
    if (Array.isArray(value)) return value.map((one, at) => fill(one, [...path, at]));
    const found = referenceIn(value, sources);
    if (found === undefined) return fillKeys(value, path);
    if ('text' in found) secrets.push(found.text);
    else problems.push({ path, ...found.problem });
    return 'text' in found ? found.text : undefined;
  };
  const fillKeys = (value: Container, path: readonly PropertyKey[]): Container => {
    const filled: Container = {};
    for (const [key, one] of Object.entries(value))
      if (key === '__proto__')
        problems.push({
          path: [...path, key],
          message: 'no setting has this name',
          hint: 'Remove it.',
        });
      else filled[key] = fill(one, [...path, key]);
    return filled;
  };
  const value = fill(config, []);
  if (values <= most) return { value, isTooLarge: false, problems, secrets };
  const hint = 'Keep data in files of its own.';
  const problem = { path: [], message: `it holds more than ${most} values`, hint };
  return { value, isTooLarge: true, problems: [problem], secrets };
}

type Container = Record<string, unknown>;

/** Returns whether a value is a plain object or a list. Any other value, such as an instance of a class, passes as it is. */
function isContainer(value: unknown): value is Container | unknown[] {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

type Found = { readonly text: string } | { readonly problem: Omit<ConfigProblem, 'path'> };

function referenceIn(value: Container, sources: SecretSources): Found | undefined {
  if (Object.keys(value).length !== 1) return undefined;
  const { env: variable, secretFile } = value;
  if (typeof variable === 'string' && /^[A-Z][A-Z0-9_]*$/.test(variable)) {
    const text = sources.env[variable];
    if (text !== undefined && text !== '') return { text };
    const message = `the environment has no ${variable}`;
    return { problem: { message, hint: `Set ${variable} where the host is started.` } };
  }
  if (typeof secretFile !== 'string') return undefined;
  try {
    return { text: sources.readSecretFile(secretFile).replace(/\r?\n$/, '') };
  } catch (thrown) {
    const message = `the file "${secretFile}" cannot be read: ${oneLine(thrown)}`;
    return {
      problem: { message, hint: 'Check the path; it is read from the folder of this file.' },
    };
  }
}
