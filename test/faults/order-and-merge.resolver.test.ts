import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Select, select } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import { labKernel } from '../support/kernel-lab.js';

describe('fault 25: the resolver', () => {
  interface Proposal {
    readonly extensionId: string;
    readonly to: string;
    readonly rank: number;
    readonly explicit: boolean;
    readonly valid: boolean;
  }
  const candidates: fc.Arbitrary<Proposal[]> = fc.uniqueArray(
    fc.record({
      extensionId: fc.constantFrom('a', 'b', 'c', 'd', 'B', 'ä'),
      to: fc.constantFrom('x', 'y', 'z'),
      rank: fc.constantFrom(-1, 0, 1, 5),
      explicit: fc.boolean(),
      valid: fc.boolean(),
    }),
    { selector: ({ extensionId }) => extensionId, maxLength: 6 },
  );
  const run = (list: readonly Proposal[], closed: boolean) => {
    const stage = faultStage({ onError: { resolver: closed ? 'closed' : 'open' } });
    const kernel = labKernel([stage]);
    for (const one of list)
      kernel.contribute({
        family: stage.family,
        class: 'resolver',
        extensionId: one.extensionId,
        id: 'r',
        handler: () => select({ to: one.valid ? one.to : 'gone' }, one),
      });
    const valid = (target: unknown): true | string =>
      (target as { to?: string }).to !== 'gone' || 'it is gone'; // the stage has one form of target
    return kernel.dispatch(stage.family, faultSample(), { valid });
  };

  it('P: explicit beats ranked, then rank, then run order by id (§9.1)', async () => {
    await fc.assert(
      fc.asyncProperty(candidates, fc.boolean(), async (list, closed) => {
        const outcome = await run(list, closed);
        const order = [...list].sort((one, two) => (one.extensionId < two.extensionId ? -1 : 1));
        const [best] = order
          .filter(({ valid }) => valid)
          .sort((one, two) => Number(two.explicit) - Number(one.explicit) || two.rank - one.rank);
        expect(outcome.candidates.map(({ extensionId }) => extensionId)).toEqual(
          order.map(({ extensionId }) => extensionId),
        );
        if (best === undefined) {
          expect(outcome.selection).toBeUndefined();
          expect(outcome.status).toBe(closed ? 'failed' : 'passed'); // §9.4
          expect(outcome.failures.map(({ kind, policy }) => `${kind} ${policy}`)).toEqual(
            closed ? ['no-candidate closed'] : list.length > 0 ? ['no-candidate open'] : [],
          );
        } else
          expect(outcome.selection).toMatchObject({
            extensionId: best.extensionId,
            target: { to: best.to },
          });
      }),
    );
  });

  it.each([
    ['nobody proposed', () => undefined],
    ['the only resolver threw', () => Promise.reject(new Error('boom'))],
    ['none fits the schema', () => ({ ...select({ to: 1 }) })],
  ])('no candidate, fail-closed: %s -> a typed failure (§9.4, §9.5)', async (_name, handler) => {
    const stage = faultStage({ onError: { resolver: 'closed' } });
    const kernel = labKernel([stage]);
    kernel.contribute({ family: stage.family, class: 'resolver', id: 'r', handler });
    const outcome = await kernel.dispatch(stage.family, faultSample());
    expect(outcome.status).toBe('failed');
    expect(outcome.failures.at(-1)).toMatchObject({ kind: 'no-candidate', policy: 'closed' });
  });

  it('a predicate of the host that throws is not the end of the dispatch (§9.2)', async () => {
    const stage = faultStage({ onError: { resolver: 'closed' } });
    const kernel = labKernel([stage]);
    const propose = (): readonly Select[] => [select({ to: 'x' })];
    kernel.contribute({ family: stage.family, class: 'resolver', id: 'r', handler: propose });
    const valid = (): true => {
      throw new Error('the host is confused');
    };
    expect((await kernel.dispatch(stage.family, faultSample(), { valid })).status).toBe('failed');
  });
});
