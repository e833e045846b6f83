import { type ConfigProblem, problemsOf } from './problem.js';
import { fillReferences, type SecretSources } from './references.js';
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
const toldProblems = 50;

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
  const rest = problems.length - toldProblems;
  if (rest <= 0) return { ok: false, problems };
  const more = { path: [], message: `${rest} more problems`, hint: 'Mend the others first.' };
  return { ok: false, problems: [...problems.slice(0, toldProblems), more] };
}
