import { describe, expect, it } from 'vitest';
import { type HooksRun, runVector } from '../support/agent-hooks-run.js';
import {
  at,
  canonical,
  type Fields,
  goldenIdentities,
  hasVectors,
  identityOf,
  requiredFields,
  type Vector,
  vectors,
} from '../support/agent-hooks-vectors.js';
import { readProjectFile } from '../support/source-tree.js';

/** The capabilities of the contract that a kernel in JavaScript without parts of streams does not declare. */
const undeclared: Readonly<Record<string, string>> = {
  int64_json: 'JSON.parse rounds an integer beyond 2^53 before anybody can refuse it',
  bigint_json: 'JSON.parse rounds an integer beyond 2^64 before anybody can refuse it',
  incremental_output: 'the kernel judges texts as a whole; a host shows their parts',
};

/** A golden identity that is not met: its context says one number, and its canonical text another one. */
const rounded = {
  id: 'G-15-rfc8785-numbers',
  ours: '9.999999999999997e+22',
  theirs: '9.999999999999996e+22',
};

const all = vectors();
const lacks = ({ capabilities = [] }: Vector) => capabilities.filter((one) => one in undeclared);
const claimed = all.filter((vector) => lacks(vector).length === 0);

/** The paths of a context or a record that have another value than they should. */
function wrong(value: unknown, expected: Fields = {}): unknown[] {
  return Object.entries(expected)
    .map(([path, want]) => ({ path, want, got: at(value, path) ?? null }))
    .filter(({ want, got }) => JSON.stringify(want) !== JSON.stringify(got));
}

/** Finds the expected things among those that were seen, in order; gives those that are not there. */
function missing<E, S>(
  expected: readonly E[],
  seen: readonly S[],
  fits: (one: S, to: E) => boolean,
): E[] {
  let from = 0;
  return expected.filter((want) => {
    const found = seen.findIndex((one, index) => index >= from && fits(one, want));
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}

function check({ expect: expected }: Vector, run: HooksRun): void {
  const { interceptions, sequence_strict: isStrict = true, records = [] } = expected;
  const points = run.interceptions.map((context) => context['interception_point']);
  for (const context of run.interceptions)
    expect(
      requiredFields(String(context['interception_point'])).filter((name) => !(name in context)),
    ).toEqual([]);
  if (isStrict) expect(points).toEqual(interceptions.map((one) => one.interception_point));
  expect(
    missing(interceptions, run.interceptions, (context, want) => {
      const text = JSON.stringify(context);
      return (
        context['interception_point'] === want.interception_point &&
        wrong(context, want.context).length === 0 &&
        (want.context_must_contain ?? []).every((needle) => text.includes(needle)) &&
        !(want.context_must_not_contain ?? []).some((needle) => text.includes(needle))
      );
    }),
  ).toEqual([]);
  expect((expected.interceptions_absent ?? []).filter((point) => points.includes(point))).toEqual(
    [],
  );
  expect(
    missing(
      records,
      run.records,
      (record, want) =>
        record.interception_point === want.interception_point &&
        wrong(record, want.assert).length === 0 &&
        (want.absent ?? []).every((path) => at(record, path) === undefined) &&
        (want.present ?? []).every((path) => at(record, path) !== undefined),
    ),
    JSON.stringify(run.records),
  ).toEqual([]);
  if (expected.tool_invocations !== undefined)
    expect(run.invocations).toEqual(expected.tool_invocations);
  const invoked = run.invocations.map(({ name }) => name);
  expect((expected.tool_not_invoked ?? []).filter((name) => invoked.includes(name))).toEqual([]);
  if (expected.final_output !== undefined) expect(run.finalOutput).toEqual(expected.final_output);
  if (expected.identities_equal !== undefined) {
    const isEqual = run.records.every((one) => one.input_identity === one.enforced_identity);
    expect(isEqual).toBe(expected.identities_equal);
  }
  expect(run.outcome).toBe(expected.run_outcome);
}

const where = hasVectors ? '' : ': skipped, ../shared/contracts/agent-hooks-0.1 is absent';

describe.skipIf(!hasVectors)(`the contract agent-hooks 0.1${where}`, () => {
  describe.each([
    ['as it says', false],
    ['and the final value is judged again', true],
  ])('is kept by a host over the public kernel, %s', (_, recheck) => {
    it.each(claimed.map((vector) => [`${vector.id}: ${vector.title}`, vector] as const))(
      '%s',
      async (_, vector) => {
        check(vector, await runVector(vector, recheck));
      },
    );
  });

  it('has vectors that are left out by a capability which the host does not declare, and no others', () => {
    expect(claimed).toHaveLength(44);
    const out = all.filter((vector) => lacks(vector).length > 0);
    const page = readProjectFile('spec/agent-hooks.md');
    const [first, last] = ['AH-CTK-110', 'AH-CTK-113'];
    for (const { id } of out) expect((id > first && id < last) || page.includes(id), id).toBe(true);
    for (const capability of Object.keys(undeclared)) expect(page).toContain(`\`${capability}\``);
    expect(page).toContain(rounded.id);
    expect(out.map((vector) => `${vector.id} ${lacks(vector)}`)).toEqual([
      'AH-CTK-090 int64_json',
      'AH-CTK-091 bigint_json',
      'AH-CTK-095 int64_json',
      'AH-CTK-110 incremental_output',
      'AH-CTK-111 incremental_output',
      'AH-CTK-112 incremental_output',
      'AH-CTK-113 incremental_output',
    ]);
  });

  it.each(goldenIdentities().map((golden) => [golden.id, golden] as const))(
    'has the identity %s',
    (id, { ctx, expect: golden }) => {
      if (golden.error !== undefined) {
        const point = String(ctx['interception_point']);
        const isWhole = requiredFields(point).every((name) => name in ctx);
        if (isWhole) expect(() => identityOf(ctx)).toThrow(RangeError);
        return;
      }
      if (id === rounded.id) {
        expect(canonical(ctx).replaceAll(rounded.ours, rounded.theirs)).toBe(golden.canonical_json);
        return;
      }
      expect(canonical(ctx)).toBe(golden.canonical_json);
      expect(identityOf(ctx)).toBe(golden.context_identity);
    },
  );

  it('lets a later transform past an interceptor, and the final value is judged only by a recheck', async () => {
    const [model] = all.filter(({ id }) => id === 'AH-CTK-060');
    if (model === undefined) throw new Error('the vector of a fold is gone');
    const gate = {
      at: 'pre_tool_call',
      match: { 'target.url': 'https://safe.example' },
    } as const;
    const denies = { ...gate, return: { decision: 'deny', reason: 'ctk:unsafe' } } as const;
    const [changes = []] = model.interceptor_scripts ?? [];
    const vector: Vector = { ...model, interceptor_scripts: [[denies], changes] };
    expect((await runVector(vector, false)).invocations).toHaveLength(1);
    const stricter = await runVector(vector, true);
    expect(stricter.invocations).toEqual([]);
    expect(stricter.records.map(({ verdict }) => verdict.reason)).toContain('ctk:unsafe');
  });
});
