import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from 'sluice-kernel';
import {
  at,
  canonical,
  type Fields,
  type Rule,
  stepsOf,
  type Verdict,
} from './agent-hooks-vectors.js';

export type Point =
  | `${'pre' | 'post'}_${'model' | 'tool'}_call`
  | `agent_${'startup' | 'shutdown'}`
  | 'input'
  | 'output';

/** The field of a context that its target stands for: what is written to one is written to both. */
const sources: Readonly<Record<Point, string>> = {
  agent_startup: 'agent_init',
  input: 'input',
  pre_model_call: 'messages',
  post_model_call: 'response',
  pre_tool_call: 'tool_call.args',
  post_tool_call: 'tool_result.value',
  output: 'output',
  agent_shutdown: 'summary',
};

export const denial = (reason: string): Verdict => ({
  decision: 'deny',
  reason: `host_error:${reason}`,
});

/** Thrown inside a handler where the host denies: the kernel fails the stage closed. */
export class HostDenial extends Error {}

/** Writes a value to a path of the target. @throws HostDenial if it cannot be set. */
export function transformed(
  context: Fields,
  { path, value = null }: NonNullable<Verdict['transform']>,
): Fields {
  const point = context['interception_point'] as Point; // the host wrote it
  if (point === 'agent_startup' || point === 'agent_shutdown')
    throw new HostDenial('transform_target_forbidden');
  const changed = structuredClone(context) as Record<string, unknown>; // a copy is ours
  const [, ...steps] = ['', 'target', ...stepsOf(path).slice(1)];
  set(changed, steps, value);
  set(changed, stepsOf(sources[point]), changed['target'] ?? null);
  return changed;
}

function set(inside: object, steps: readonly string[], value: unknown): void {
  const last = steps.at(-1) ?? '';
  const parent = steps.length === 1 ? inside : at(inside, steps.slice(0, -1).join('.'));
  if (typeof parent !== 'object' || parent === null) throw new HostDenial('transform_invalid');
  Reflect.set(parent, last, value);
}

/** Tells that a verdict keeps the contract's own rules. */
function isVerdict({ decision, transform, approval, reason, evidence }: Verdict): boolean {
  return (
    (decision === 'transform') === (transform !== undefined) &&
    (approval === undefined || decision === 'deny') &&
    reason?.startsWith('host_error:') !== true &&
    (evidence === undefined || Buffer.byteLength(canonical(evidence)) <= 10_240)
  );
}

export const matches = (context: Fields, rule: { readonly match?: Fields }): boolean =>
  Object.entries(rule.match ?? {}).every(([path, value]) =>
    isDeepStrictEqual(at(context, path), value),
  );

export const allowed: Verdict = { decision: 'allow' };

/** The verdict of a scripted interceptor. @throws what its script says, and HostDenial for a verdict that is none. */
export function asked(script: readonly Rule[], context: Fields): Verdict {
  const copy = structuredClone(context) as Record<string, unknown>; // an interceptor may write to what it gets
  const rule = script.find((one) => one.at === copy['interception_point'] && matches(copy, one));
  if (rule?.fault === 'raise') throw new Error('raised');
  if (rule?.fault === 'malformed_verdict') throw new HostDenial('verdict_invalid');
  if (rule?.fault === 'mutate') {
    for (const key of Object.keys(copy)) copy[key] = 'mutated';
    return { decision: 'allow', reason: 'ctk:mutated' };
  }
  const verdict = rule?.return ?? allowed;
  if (!isVerdict(verdict)) throw new HostDenial('verdict_invalid');
  return verdict;
}

/** The reserved reason of a failure of the kernel. */
export function reasonOf(failure: Outcome['failures'][number] | undefined): string {
  const [, named] = /\b((?:transform|verdict)_\w+)/.exec(failure?.message ?? '') ?? [];
  return named ?? (failure?.kind === 'timed-out' ? 'interceptor_timeout' : 'interceptor_failed');
}
