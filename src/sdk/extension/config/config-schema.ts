import { oneLine, type SluiceError } from 'sluice-kernel/internal';
import { extensionError } from '../errors.js';

/**
 * The schema of an extension's configuration: a Standard Schema (version 1), as zod and others make them, written
 * out here so that no schema library is imported. It must answer synchronously.
 *
 * @example
 * const config: ConfigSchema<{ from: string }> = z.object({ from: z.string() });
 */
export interface ConfigSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => ConfigVerdict<Output> | Promise<ConfigVerdict<Output>>;
    /** For the types only; never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The answer of a schema: the value with its defaults, or the issues. */
export type ConfigVerdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ConfigIssue[] };

/** One mistake of a configuration, with its place. */
export interface ConfigIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const shownIssues = 5;

/**
 * Reads an extension's configuration. A missing one is read as an empty one, so that defaults apply and an error
 * names the setting that is missing (spec §13).
 *
 * @throws SluiceError `bad-config`, one line that names each path, or `bad-config-schema`.
 */
export function readConfig<Output>(
  extensionId: string,
  schema: ConfigSchema<Output> | undefined,
  value: unknown,
): Output | undefined {
  const given = value ?? {};
  if (schema === undefined) {
    if (typeof given === 'object' && Object.keys(given).length === 0) return undefined;
    throw badConfig(extensionId, [{ message: 'this extension takes none' }]);
  }
  const verdict = judge(extensionId, schema, given);
  if (verdict.issues === undefined) return verdict.value;
  throw badConfig(extensionId, verdict.issues);
}

/** Reads a value by a schema, which may be async. @returns the value, or its problems in one line. */
export async function checkedBy<Output>(
  schema: ConfigSchema<Output>,
  given: unknown,
): Promise<{ readonly value?: { readonly read: Output }; readonly problem?: string }> {
  const verdict = await schema['~standard'].validate(given);
  return verdict.issues === undefined
    ? { value: { read: verdict.value } }
    : { problem: linesOf(verdict.issues, '').join('; ') };
}

/** The mistakes in words, each with its path; the first few of them. */
function linesOf(issues: readonly ConfigIssue[], root: string): readonly string[] {
  const lines = issues.map((issue) => {
    const path = pathOf(issue, root);
    return `${path}${path === '' ? '' : ': '}${oneLine(issue.message)}`;
  });
  const rest = lines.length - shownIssues;
  return rest > 0 ? [...lines.slice(0, shownIssues), `and ${rest} more`] : lines;
}

function judge<Output>(
  extensionId: string,
  schema: ConfigSchema<Output>,
  value: unknown,
): ConfigVerdict<Output> {
  const refuse = (problem: string, cause?: unknown): never => {
    throw extensionError('bad-config-schema', { extensionId, problem }, { cause });
  };
  let verdict: ConfigVerdict<Output> | Promise<ConfigVerdict<Output>>;
  try {
    verdict = schema['~standard'].validate(value);
  } catch (thrown) {
    return refuse(`it threw ${oneLine(thrown)}`, thrown);
  }
  if (typeof verdict !== 'object' || verdict === null) return refuse('it gives no verdict');
  if (!('then' in verdict)) return verdict;
  verdict.then(undefined, () => undefined); // its answer is not used, so nobody else handles a rejection
  return refuse('it answers asynchronously');
}

function badConfig(extensionId: string, issues: readonly ConfigIssue[]): SluiceError {
  const [first] = issues;
  return extensionError('bad-config', {
    extensionId,
    problems: linesOf(issues, 'config').join('; ') || 'config: it does not fit',
    path: first === undefined ? 'config' : pathOf(first, 'config'),
  });
}

/** Writes the path of an issue as a program would: `config.days[0].from`. */
function pathOf(issue: ConfigIssue, root: string): string {
  let path = root;
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    const name = String(key);
    if (typeof key === 'number' || /^\d+$/.test(name)) path += `[${name}]`;
    else path += /^[\w$-]+$/.test(name) ? `${path && '.'}${name}` : `[${JSON.stringify(name)}]`;
  }
  return path;
}
