import { oneLine } from '../../kernel/index.js';
import type { ConfigProblem } from './problem.js';

/** The sources of the secrets of a config. */
export interface SecretSources {
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
export function fillReferences(config: unknown, sources: SecretSources) {
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

/** Tells whether a value is a plain object or a list. Any other value, such as an instance of a class, passes as it is. */
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
