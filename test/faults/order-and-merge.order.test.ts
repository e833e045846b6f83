import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cancel, type HandlerClass, select } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import {
  type Bag,
  type LabContribution,
  type LabOutcome,
  labKernel,
} from '../support/kernel-lab.js';

const modes = ['parallel', 'sequential', 'sync-sequential'] as const;

interface Spec {
  readonly extensionId: string;
  readonly id: string;
  readonly priority: number;
  readonly class: HandlerClass;
  readonly what: number;
}

/** Names that a locale would order differently than code units do. */
const ids = fc.constantFrom(
  'a',
  'B',
  'b',
  'Z',
  'z',
  'ä',
  'é',
  'a-b',
  'a1',
  'a10',
  'a2',
  '\u{1f600}',
  '\uffee',
);
const priorities = fc.constantFrom(-1, -0, 0, 0.5, 1, 1e9, Number.MIN_VALUE);
const specs = fc.uniqueArray(
  fc.record({
    extensionId: ids,
    id: ids,
    priority: priorities,
    class: fc.constantFrom('observer', 'augmenter', 'mutator', 'veto', 'resolver'),
    what: fc.nat(5),
  }),
  { maxLength: 10, selector: ({ extensionId, id }) => `${extensionId}/${id}` },
);

/** What a handler of a spec returns, or throws: by its class and number, and by nothing else. */
function resultOf(spec: Spec): unknown {
  const name = `${spec.extensionId}/${spec.id}`;
  if (spec.what === 0) return undefined;
  if (spec.what === 1) throw new Error(name);
  switch (spec.class) {
    case 'observer':
      return undefined;
    case 'augmenter':
      return spec.what === 2 ? { topic: name } : { notes: [name], language: name };
    case 'mutator':
      return { content: name, tags: { [name]: spec.what }, tail: '+', head: '-', first: name };
    case 'veto':
      return spec.what === 5 ? cancel('policy', { text: name }) : { kind: 'allow' };
    case 'resolver':
      return select({ to: name }, { rank: spec.what % 2, explicit: spec.what === 4 });
  }
}

const jsonOf = (outcome: LabOutcome): Bag => outcome.toJSON();
const given = { eventId: 'e', occurredAt: 1 };

const byRule = (left: Spec, right: Spec): number =>
  right.priority - left.priority ||
  unitOrder(left.extensionId, right.extensionId) ||
  unitOrder(left.id, right.id);
const unitOrder = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;

describe('fault 21: order does not depend on registration or load time (P, §4.1)', () => {
  const contributionOf = (spec: Spec, ran: string[]): LabContribution => ({
    family: 'fault.stage',
    class: spec.class,
    extensionId: spec.extensionId,
    id: spec.id,
    priority: spec.priority,
    handler: () => {
      ran.push(`${spec.extensionId}/${spec.id}`);
      return resultOf(spec);
    },
  });

  it.each(modes)('P: any permutation gives the same plan and outcome on %s', async (mode) => {
    const stage = faultStage({ mode });
    const permuted = specs
      .map((list) =>
        mode === 'parallel' ? list.map((spec) => ({ ...spec, class: 'observer' as const })) : list,
      )
      .chain((list) =>
        fc.tuple(
          fc.constant(list),
          fc.shuffledSubarray(list, { minLength: list.length }),
          fc.array(fc.nat(10), { maxLength: 4 }),
        ),
      );
    await fc.assert(
      fc.asyncProperty(permuted, async ([list, shuffled, pauses]) => {
        const results = [];
        for (const order of [list, shuffled]) {
          const kernel = labKernel([stage]);
          const ran: string[] = [];
          for (const [i, spec] of order.entries()) {
            // load timing: the second kernel dispatches, and unloads and loads again, in between
            if (order === shuffled && pauses.includes(i)) {
              const extra = contributionOf({ ...spec, id: 'passing', what: 0 }, []);
              const passing = kernel.contribute(extra);
              await kernel.run(stage.family, faultSample());
              passing[Symbol.dispose]();
            }
            kernel.contribute(contributionOf(spec, ran));
          }
          ran.length = 0;
          const outcome = await kernel.run(stage.family, faultSample(), { ...given });
          const plan = kernel
            .plan(stage.family)
            .map((one) => `${one.extensionId}/${one.contributionId}`);
          results.push({ plan, ran, outcome: jsonOf(outcome) });
        }
        expect(results[1]).toEqual(results[0]);
        const expected = [...list]
          .sort(byRule)
          .map(({ extensionId, id }) => `${extensionId}/${id}`);
        expect(results[0]?.plan).toEqual(expected);
      }),
    );
  });

  it('a priority that is not finite is refused (§4.1)', () => {
    const stage = faultStage();
    for (const priority of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const contribute = () =>
        labKernel([stage]).contribute({
          family: stage.family,
          class: 'observer',
          id: 'a',
          priority,
          handler: () => undefined,
        });
      expect(contribute).toThrow(expect.objectContaining({ code: 'bad-contribution' }));
    }
  });
});

describe('fault 22: the laws of merging (P)', () => {
  const noops: readonly unknown[] = [
    undefined,
    null,
    {},
    { content: undefined },
    { first: undefined },
  ];
  const mutations = specs.map((list) =>
    list.map((spec) => ({
      ...spec,
      class: 'mutator' as const,
      what: spec.what === 1 ? 2 : spec.what,
    })),
  );
  const run = async (
    list: readonly Spec[],
    payload: Bag,
    extra?: { at: number; result: unknown },
  ) => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    for (const { what, ...spec } of list) {
      const handler = () => resultOf({ ...spec, what });
      kernel.contribute({ ...spec, family: stage.family, handler });
    }
    if (extra !== undefined)
      kernel.contribute({
        family: stage.family,
        class: 'mutator',
        extensionId: 'noop',
        id: 'noop',
        priority: extra.at,
        handler: () => extra.result,
      });
    return kernel.run(stage.family, payload, { ...given });
  };

  it('P: a handler without effect anywhere changes nothing', async () => {
    const at = fc.constantFrom(-2, -0.5, 0, 0.25, 2e9);
    await fc.assert(
      fc.asyncProperty(specs, at, fc.constantFrom(...noops), async (list, priority, result) => {
        const plain = jsonOf(await run(list, faultSample()));
        const noop = jsonOf(await run(list, faultSample(), { at: priority, result }));
        const skipped = (noop['skipped'] as { extensionId: string }[]).filter(
          ({ extensionId }) => extensionId !== 'noop',
        );
        expect({ ...noop, skipped }).toEqual(plain);
      }),
    );
  });

  it.each([
    ['an empty list', { list: [] }],
    ['no keys', { tags: {} }],
    ['a key that is there already', { tags: { color: 'red' } }],
    ['no text', { tail: '', head: '' }],
    ['the same text', { content: 'emitted' }],
    ['NaN over NaN', { opaque: Number.NaN }],
  ])('a write that changes nothing is no change: %s (§5.5)', async (_name, patch: Bag) => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    let judged = 0;
    const veto = (): void => {
      judged++;
    };
    kernel.contribute({ family: stage.family, class: 'veto', id: 'a', priority: 1, handler: veto });
    kernel.contribute({ family: stage.family, class: 'mutator', id: 'b', handler: () => patch });
    const emitted = 'opaque' in patch ? faultSample({ opaque: Number.NaN }) : faultSample();
    const outcome = await kernel.run(stage.family, emitted);
    expect(outcome.failures).toEqual([]);
    expect(outcome.changes).toEqual([]);
    expect(judged, 'nothing to judge again (§8.3)').toBe(1);
  });

  it('a field that is NaN is not the change of one who never wrote it (§5.5)', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    const handler = () => ({ content: 'x' });
    kernel.contribute({ family: stage.family, class: 'mutator', id: 'a', handler });
    const { changes } = await kernel.run(stage.family, faultSample({ opaque: Number.NaN }));
    expect(changes.map(({ path }) => path)).toEqual(['content']);
  });

  it('P: splitting a list in two stages of the same plan equals one', async () => {
    // laws that look at what was emitted (first-defined, prepend-text) begin anew in a second stage, by §6.2
    const blind = new Set(['first', 'head']);
    await fc.assert(
      fc.asyncProperty(mutations, fc.nat(10), async (list, cut) => {
        const sorted = [...list].sort(byRule);
        const whole = await run(sorted, faultSample());
        const left = await run(sorted.slice(0, cut), faultSample());
        const right = await run(sorted.slice(cut), left.payload);
        for (const field of Object.keys(whole.payload).filter((key) => !blind.has(key)))
          expect(right.payload[field], field).toEqual(whole.payload[field]);
        const touched = [...left.changes, ...right.changes].filter(({ path }) => !blind.has(path));
        expect(touched).toEqual(whole.changes.filter(({ path }) => !blind.has(path)));
      }),
    );
  });

  it('P: parallel observers cannot affect the outcome (§4.2)', async () => {
    const stage = faultStage({ mode: 'parallel' });
    const results = fc.oneof(
      fc.constant({ content: 'x' }),
      fc.constant(cancel('policy')),
      fc.constant(select({ to: 'x' })),
      fc.constant(undefined),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(results, fc.boolean()), { maxLength: 6 }),
        async (list) => {
          const kernel = labKernel([stage]);
          for (const [i, [result, async]] of list.entries())
            kernel.contribute({
              family: stage.family,
              class: 'observer',
              id: `o${i}`,
              handler: () => (async ? Promise.resolve(result) : result),
            });
          const outcome = await kernel.run(stage.family, faultSample());
          expect(outcome).toMatchObject({
            status: 'passed',
            annotations: {},
            changes: [],
            candidates: [],
          });
          expect(outcome.payload).toBe(outcome.event['payload']);
          expect(outcome.cancel).toBeUndefined();
          expect(outcome.selection).toBeUndefined();
        },
      ),
    );
  });
});
