import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLab, type LabHandler } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

/** Notes what each handler saw last. */
function watching(
  seen: Map<string, unknown>,
): (handler: LabHandler, program: Program) => LabHandler {
  return (handler, program) => (call, own) => {
    seen.set(program.id, call.payload);
    return handler(call, own);
  };
}

describe('what a veto judged', () => {
  it.each(['lab.sequential', 'lab.sync'])(
    'is what happens, on %s: the last payload that each saw says what the outcome’s does (§8.3)',
    async (family) => {
      let judged = 0;
      await fc.assert(
        fc.asyncProperty(programs(['mutator', 'veto'], 8), payloads, async (list, payload) => {
          const { kernel } = createLab();
          const seen = new Map<string, unknown>();
          install(kernel, family, list, (_, i) => -i, watching(seen));
          const outcome = await kernel.run(family, structuredClone(payload));
          if (outcome.status !== 'passed') return;
          const failed = new Set(outcome.failures.map((failure) => failure.contributionId));
          for (const program of list) {
            if (program.class !== 'veto' || failed.has(program.id)) continue;
            judged++;
            expect(seen.get(program.id)).toEqual(outcome.payload);
          }
        }),
        { numRuns: 200 },
      );
      expect(judged).toBeGreaterThan(30); // the property did not hold for want of vetoes
    },
  );

  it('or the outcome says that it declined to judge it, and who changed it (§8.3)', () => {
    fc.assert(
      fc.property(programs(['mutator'], 6), fc.nat(), payloads, (mutators, seed, payload) => {
        const at = seed % (mutators.length + 1);
        const { kernel } = createLab();
        const seen = new Map<string, unknown>();
        const lazy: Program = {
          id: 'lazy',
          class: 'veto',
          returns: () => undefined,
          options: { recheck: false },
        };
        const list = [...mutators.slice(0, at), lazy, ...mutators.slice(at)];
        install(kernel, 'lab.sync', list, (_, i) => -i, watching(seen));
        const outcome = kernel.dispatchSync('lab.sync', structuredClone(payload));
        const later = new Set(mutators.slice(at).map(({ id }) => id));
        const changers = new Set(
          outcome.changes
            .filter((one) => later.has(one.contributionId) && one.overruled !== true)
            .map((one) => one.contributionId),
        );
        expect(outcome.staleApprovals.map(({ contributionId }) => contributionId)).toEqual(
          changers.size > 0 ? ['lazy'] : [],
        );
        const named = outcome.staleApprovals.flatMap(({ changedBy }) => changedBy);
        expect(new Set(named.map(({ contributionId }) => contributionId))).toEqual(changers);
      }),
      { numRuns: 200 },
    );
  });
});
