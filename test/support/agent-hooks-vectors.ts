import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** A folder of vectors, schemas and golden identities that stands beside the repository, and is read in place. */
const folder = new URL('../../../shared/contracts/agent-hooks-0.1/', import.meta.url);

/** Tells that the vectors are there. Without them their tests are skipped. */
export const hasVectors = existsSync(folder);

export type Fields = Readonly<Record<string, unknown>>;

/** The answer of an interceptor. */
export interface Verdict {
  readonly decision: 'allow' | 'deny' | 'transform';
  readonly reason?: string | null;
  readonly message?: string | null;
  readonly warnings?: readonly Fields[] | null;
  readonly approval?: Fields;
  readonly transform?: { readonly path: string; readonly value?: unknown };
  readonly evidence?: Fields;
  readonly result_labels?: readonly string[] | null;
}

/** A rule of a scripted interceptor. */
export interface Rule {
  readonly at: string;
  readonly match?: Fields;
  readonly return?: Verdict;
  readonly fault?: 'raise' | 'malformed_verdict' | 'mutate';
}

/** A rule of the scripted human. */
export interface Resolve {
  readonly match?: Fields;
  readonly resolve: {
    readonly outcome?: 'approve' | 'reject' | 'unresolved';
    readonly verdict?: Verdict;
    readonly fault?: 'raise';
    readonly identity_override?: string;
    readonly echo_recomputed?: boolean;
  };
}

export interface Vector {
  readonly id: string;
  readonly title: string;
  readonly mode?: 'enforce' | 'evaluate_only';
  readonly capabilities?: readonly string[];
  readonly scenario: {
    readonly input: Fields;
    readonly tools?: readonly Tool[];
    readonly model_script?: readonly { readonly respond: Response }[];
  };
  readonly interceptor_script?: readonly Rule[];
  readonly interceptor_scripts?: readonly (readonly Rule[])[];
  readonly approval_script?: readonly Resolve[];
  readonly composition?: Composition;
  readonly identity_provider?: 'jcs-sha256' | 'ctk-fault' | null;
  readonly redact_for_approval?: readonly string[];
  readonly expect: Expectation;
}

export interface Tool {
  readonly name: string;
  readonly behavior: readonly {
    readonly when_args?: Fields;
    readonly return: unknown;
    readonly is_error?: boolean;
  }[];
}

export interface Response {
  readonly content: unknown;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: Fields;
  }[];
  readonly finish_reason: string;
}

export interface Composition {
  readonly profile:
    | 'sequential/first_deny'
    | 'sequential/run_all'
    | 'parallel/strictest'
    | 'parallel/unanimous';
  readonly on_approval?: 'stop' | 'resume';
  readonly on_disagreement?: 'deny' | 'approval';
  readonly on_transform_conflict?: 'deny' | 'approval';
}

export interface Expectation {
  readonly sequence_strict?: boolean;
  readonly interceptions: readonly {
    readonly interception_point: string;
    readonly context?: Fields;
    readonly context_must_contain?: readonly string[];
    readonly context_must_not_contain?: readonly string[];
  }[];
  readonly interceptions_absent?: readonly string[];
  readonly tool_invocations?: unknown;
  readonly tool_not_invoked?: readonly string[];
  readonly final_output?: unknown;
  readonly run_outcome: string;
  readonly identities_equal?: boolean;
  readonly records?: readonly {
    readonly interception_point: string;
    readonly assert?: Fields;
    readonly absent?: readonly string[];
    readonly present?: readonly string[];
  }[];
}

const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

/** The vectors, in the order of their names. */
export function vectors(): Vector[] {
  if (!hasVectors) return [];
  return readdirSync(new URL('vectors/', folder))
    .toSorted()
    .map((name) => read(`vectors/${name}`));
}

/** The golden identities: a context, and its canonical JSON and identity, or the error. */
export function goldenIdentities(): readonly {
  readonly id: string;
  readonly ctx: Fields;
  readonly expect: {
    readonly canonical_json?: string;
    readonly context_identity?: string;
    readonly error?: string;
  };
}[] {
  return hasVectors ? read('identity.json').fixtures : [];
}

/** The fields that a context of an interception point must have. */
export function requiredFields(point: string): readonly string[] {
  return read(`schema/agent-context/${point}.schema.json`).required;
}

/** Writes JSON in the one form of RFC 8785. @throws RangeError for an integer that a double does not hold. */
export function canonical(value: unknown): string {
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    Math.abs(value) < 1e21 &&
    !Number.isSafeInteger(value)
  )
    throw new RangeError(`${value} is beyond 2^53`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([key, inside]) => `${JSON.stringify(key)}:${canonical(inside)}`)}}`;
}

/** The identity of a context: of the fields that it must have, and of no other. */
export function identityOf(context: Fields): string {
  const { agent, session } = context;
  const kept: Record<string, unknown> = {};
  for (const name of requiredFields(String(context['interception_point'])))
    kept[name] = context[name] ?? null;
  kept['agent'] = pick(agent, 'id', 'framework');
  kept['session'] = pick(session, 'id');
  return `sha256:${createHash('sha256').update(canonical(kept)).digest('hex')}`;
}

const pick = (value: unknown, ...names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, at(value, name) ?? null]));

/** The steps of a dotted path such as `$target.a[0]`, without its root. */
export const stepsOf = (path: string): string[] => path.match(/[^.[\]]+/g) ?? [];

/** The value at a dotted path; `undefined` if nothing is there. */
export function at(value: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (inside, step) =>
      typeof inside === 'object' && inside !== null ? Reflect.get(inside, step) : undefined,
    value,
  );
}
