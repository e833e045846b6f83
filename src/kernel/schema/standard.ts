import { oneLine } from '../value/one-line.js';
import { step } from '../value/plain.js';
import type { Misfit } from './check.js';

/**
 * A Standard Schema (version 1) of a payload, as zod, valibot and arktype make them, written out here so that no schema library
 * is imported. It must answer synchronously. The kernel reads its issues, and never the value that it returns.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => StandardVerdict<Output> | Promise<StandardVerdict<Output>>;
    /** The schema as JSON Schema, which is optional. */
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => object };
    /** For the types only; never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The answer of a Standard Schema. */
export type StandardVerdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One mistake that a Standard Schema found. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Returns whether a schema is a Standard Schema. Some of them are functions. */
export function isStandard(schema: unknown): schema is StandardSchema {
  const at: unknown = Object(schema)['~standard'];
  return typeof at === 'object' && at !== null && 'validate' in at;
}

/** Asks a Standard Schema. A promise is no answer: a dispatch does not wait for a schema. */
export function standardVerdict<Output>(
  schema: StandardSchema<Output>,
  value: unknown,
): StandardVerdict<Output> {
  const refuse = (message: string) => ({ issues: [{ message }] });
  try {
    const verdict = schema['~standard'].validate(value);
    if (typeof verdict !== 'object' || verdict === null)
      return refuse('its schema gives no verdict');
    if (!('then' in verdict)) {
      const { issues } = verdict;
      const isAnswer = issues === undefined ? 'value' in verdict : Array.isArray(issues);
      return isAnswer ? verdict : refuse('its schema gives no verdict');
    }
    verdict.then(undefined, () => undefined); // its answer is not used, so nobody else handles a rejection
    return refuse('its schema answers asynchronously');
  } catch (thrown) {
    return refuse(`its schema threw: ${oneLine(thrown)}`);
  }
}

/** The check of a Standard Schema: its first issue, with the place. */
export function standardCheck(schema: StandardSchema) {
  return (value: unknown): Misfit | undefined => {
    const { issues } = standardVerdict(schema, value);
    if (issues === undefined) return undefined;
    const [issue] = issues;
    const keys = (issue?.path ?? []).map((at) => (typeof at === 'object' ? at.key : at));
    return {
      path: keys.map((key) => step(String(key))).join(''),
      problem: oneLine(issue?.message ?? 'it does not fit'),
    };
  };
}
