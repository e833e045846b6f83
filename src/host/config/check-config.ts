import { type ConfigProblem, problemsOf } from './problem.js';
import { fillReferences, type SecretSources } from './references.js';
import { configSchema, type HostConfig } from './schema.js';

/** What checking a config comes to: a union by `ok`. */
export type ConfigVerdict =
  | {
      readonly ok: true;
      readonly config: HostConfig;
      /** What came from the environment or from files: it must be in no log. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** More than this are counted, not told. */
const toldProblems = 50;

/**
 * Checks a config, and fills in what it takes from the environment. Everything that is wrong with it is told, each
 * with its place and what to do. Takes anything, and never throws (spec §20).
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

/** What could not be filled in is told once, not once more for what is then missing there. */
function isWithin(path: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return other.every((key, at) => path[at] === key);
}

function refused(problems: readonly ConfigProblem[]): ConfigVerdict {
  const rest = problems.length - toldProblems;
  if (rest <= 0) return { ok: false, problems };
  const more = { path: [], message: `${rest} more problems`, hint: 'Mend the others first.' };
  return { ok: false, problems: [...problems.slice(0, toldProblems), more] };
}
