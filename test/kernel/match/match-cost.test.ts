import { describe, expect, it } from 'vitest';
import {
  allow,
  createKernel,
  type KernelOptions,
  type PlannedHandler,
} from '../../../src/kernel/internal.js';
import { checkMatch, conditionsOf } from '../../../src/kernel/match/conditions.js';
import { MatchIndex } from '../../../src/kernel/match/match-index.js';
import type { Entry } from '../../../src/kernel/outcome/entry.js';
import { countedCalls } from '../../support/counted-calls.js';
import { createLab } from '../../support/kernel-lab.js';
import { labStages } from '../../support/kernel-stages.js';

const dispatches = 50;

/** The calls that dispatches of tool calls make in the kernel, beside handlers that do not match. */
async function callsWith(handlers: number, options: KernelOptions): Promise<number> {
  const kernel = createKernel(options);
  for (let i = 0; i < handlers; i++)
    kernel.contribute({
      family: 'agent.tool.calling',
      class: 'veto',
      extensionId: 'acme',
      id: `v${i}`,
      match: { toolName: [`tool-${i}`, `file_${i}_*`] },
      handler: () => allow(),
    });
  const dispatch = () => {
    const given = { sessionId: 's-1', agentId: 'main' };
    return kernel.dispatch('agent.tool.calling', { toolName: 'Bash', params: { a: 'b' } }, given);
  };
  await dispatch(); // makes the plan; its end is not counted
  return countedCalls('/src/kernel/', () => {
    for (let i = 0; i < dispatches; i++) void dispatch();
  });
}

/** An index of the lab's stage, with the conditions of each handler. */
function indexOf(...matches: readonly Record<string, unknown>[]) {
  const stage = labStages.find(({ family }) => family === 'lab.sequential');
  if (stage === undefined) throw new Error('the lab has no such stage');
  const entries = matches.map((given, i) => {
    const author = { extensionId: 'x', contributionId: `h${i}` };
    const conditions = conditionsOf(checkMatch(given, stage, author, 'contribution'), stage);
    return { ...author, traits: { conditions, unknownMatches: false } } as unknown as Entry; // the parts that an index reads
  });
  let made = 0;
  const index = new MatchIndex(entries, (matching) => {
    made++;
    return { size: matching.length, ids: matching.map((one) => one.contributionId) };
  });
  return { index, made: () => made };
}

describe('the cost of handlers that do not match', () => {
  it.each([
    ['no tap', {}],
    ['a tap', { tap: { outcome: () => undefined } }],
  ] as const)(
    'is the same for 1 and for 100 of them, and at most a fifth of a dispatch, with %s (judgement §2.7)',
    async (_, options) => {
      const none = await callsWith(0, options);
      const [one, many] = [await callsWith(1, options), await callsWith(100, options)];
      expect(none).toBeGreaterThan(5 * dispatches);
      expect(many).toBe(one);
      expect(many).toBeLessThanOrEqual(none * 1.2);
    },
  );

  it('makes one part of the plan for 100,000 values that no condition names (judgement §2.7)', () => {
    const { index, made } = indexOf({ kind: ['a', 'b*'] }, { 'place.city': 'Rome', kind: 'c' });
    for (let i = 0; i < 100_000; i++)
      index.planFor({ title: '', kind: `k${i}`, place: { city: `c${i}` } }, undefined, undefined);
    expect(made()).toBe(1);
    const kept = index.kept.references;
    index.planFor({ title: '', kind: 'b1' }, undefined, undefined);
    index.planFor({ title: '', kind: 'b2' }, undefined, undefined);
    expect(made()).toBe(2);
    expect(index.kept.references).toBeLessThan(3 * kept); // each by what it holds
  });

  it('keeps a bounded number of parts of the plan, however many values its conditions name (judgement §2.7)', () => {
    const values = Array.from({ length: 400 }, (_, i) => `v${i}`);
    const { index, made } = indexOf(
      ...values.flatMap((kind) => [{ kind }, { 'place.city': kind }, { agentId: kind }]),
    );
    let most = 0;
    for (let i = 0; i < 3_000; i++) {
      const [kind, city, agentId] = [
        values[i % 400],
        values[(i * 7) % 400],
        values[(i * 13) % 400],
      ];
      const { ids } = index.planFor(
        { kind, place: { city } },
        { agentId: agentId ?? '' },
        undefined,
      );
      expect(ids).toHaveLength(3);
      most = Math.max(most, index.kept.references);
    }
    expect(made()).toBeGreaterThan(300); // it threw parts away, and made them again
    expect(most).toBeLessThan(210_000);
  });

  it('is nothing in a family without a match: its plan has no index (judgement §2.7)', async () => {
    const { kernel } = createLab();
    kernel.contribute({
      family: 'lab.sibling',
      class: 'veto',
      id: 'v',
      match: { kind: 'x' },
      handler: () => allow(),
    });
    kernel.contribute({ family: 'lab.sequential', class: 'veto', id: 'w', handler: () => allow() });
    const shown = (family: string): readonly PlannedHandler['match'][] =>
      kernel.plan(family).map(({ match }) => match);
    expect(shown('lab.sibling')).toEqual([{ kind: ['x'] }]);
    expect(shown('lab.sequential')).toEqual([undefined]);
    const cost = async (withMatchElsewhere: boolean): Promise<number> => {
      const lab = createLab();
      if (withMatchElsewhere)
        lab.kernel.contribute({
          family: 'lab.sibling',
          class: 'veto',
          id: 'v',
          match: { kind: 'x' },
          handler: () => allow(),
        });
      lab.kernel.contribute({
        family: 'lab.sequential',
        class: 'veto',
        id: 'w',
        handler: () => allow(),
      });
      const dispatch = () => lab.kernel.dispatch('lab.sequential', { title: 'a' });
      await dispatch(); // its end is not counted
      return countedCalls('/src/kernel/', () => void dispatch());
    };
    expect(await cost(true)).toBe(await cost(false));
  });
});
