import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/kernel/internal.js';
import { byName, createLab, type LabHandler } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';
import type { Expected, Scenario } from './scenarios.js';
import { patchScenarios } from './scenarios-patch.js';
import { observerScenarios, restScenarios } from './scenarios-rest.js';
import { vetoScenarios } from './scenarios-veto.js';

interface Variant {
  readonly mode: 'parallel' | 'sequential' | 'sync';
  readonly handlers: 'sync' | 'async';
}

/** That `validate` and `generateCode` change nothing is a law of its own: test/laws/options.test.ts. */
const variants: readonly Variant[] = (['parallel', 'sequential', 'sync'] as const).flatMap((mode) =>
  (mode === 'sync' ? (['sync'] as const) : (['sync', 'async'] as const)).map((handlers) => ({
    mode,
    handlers,
  })),
);

const everything = [...observerScenarios, ...restScenarios, ...patchScenarios, ...vetoScenarios];

async function play(scenario: Scenario, variant: Variant): Promise<readonly [Outcome, string[]]> {
  const { mode } = variant;
  const { kernel } = createLab(scenario.options);
  const family = `lab.${mode}${scenario.policy === 'closed' ? '-closed' : ''}`;
  const order: string[] = [];
  scenario.handlers.forEach(({ class: name, id, returns, ...options }, i) => {
    const body: LabHandler = (call) => {
      order.push(id);
      return returns(call);
    };
    const handler: LabHandler =
      variant.handlers === 'sync' ? body : async (call, own) => body(call, own);
    kernel.contribute({
      family,
      class: name,
      extensionId: 'x',
      id,
      priority: 100 - i,
      ...options,
      handler,
    });
  });
  const payload = labSample(scenario.payload);
  return [await kernel.run(family, payload, scenario.given?.()), order];
}

/** What came out, in the words that scenarios expect it in. */
function said(outcome: Outcome, order: readonly string[]): Expected {
  return {
    status: outcome.status,
    payload: outcome.payload as Readonly<Record<string, unknown>>,
    annotations: outcome.annotations,
    changes: outcome.changes.map(
      (change) => `${byName(change)} ${change.path}${change.overruled ? ' overruled' : ''}`,
    ),
    failures: outcome.failures.map((one) => `${byName(one)} ${one.kind} ${one.policy}`),
    skipped: outcome.skipped.map((one) => `${byName(one)} ${one.why}`),
    cancel: outcome.status === 'cancelled' ? { ...outcome.cancel } : {},
    selected: outcome.selection === undefined ? '' : byName(outcome.selection),
    candidates: outcome.candidates.map(
      (one) => byName(one) + (one.invalid === undefined ? '' : ' invalid'),
    ),
    stale: outcome.staleApprovals.map(
      (one) => `${byName(one)}: ${one.changedBy.map(byName).join(' ')}`,
    ),
    order: order.join(' '),
  };
}

const silent = {
  status: 'passed',
  annotations: {},
  changes: [],
  failures: [],
  skipped: [],
  cancel: {},
  selected: '',
  candidates: [],
  stale: [],
} as const;

/** Writes of one patch stand in the order of the payload's keys; which of two new keys is first is not said. */
function sorted(expected: Expected): Expected {
  return { ...expected, changes: [...(expected.changes ?? [])].sort() };
}

for (const variant of variants) {
  const { mode, handlers } = variant;
  const title = `${mode}, ${handlers} handlers`;
  const scenarios = mode === 'parallel' ? observerScenarios : everything;
  describe(title, () => {
    it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
      '%s',
      async (_, scenario) => {
        const [outcome, order] = await play(scenario, variant);
        const payload = labSample({ ...scenario.payload, ...scenario.expected.payload });
        expect(sorted(said(outcome, order))).toEqual(
          sorted({ ...silent, ...scenario.expected, payload }),
        );
      },
    );
  });
}

describe('a parallel stage whose observer policy is closed', () => {
  it('fails, and its other observers run all the same (§4.2, §5.3)', async () => {
    const { kernel } = createLab();
    const called: string[] = [];
    for (const id of ['a', 'b', 'c'])
      kernel.contribute({
        family: 'lab.parallel-closed',
        class: 'observer',
        extensionId: 'x',
        id,
        handler: () => {
          called.push(id);
          if (id === 'b') throw new Error('boom');
        },
      });
    const outcome = await kernel.dispatch('lab.parallel-closed', labSample());
    expect(called).toEqual(['a', 'b', 'c']);
    expect(outcome.status).toBe('failed');
    expect(outcome.failures.map(({ kind, policy }) => [kind, policy])).toEqual([
      ['threw', 'closed'],
    ]);
  });
});
