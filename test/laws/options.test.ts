import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byName, createLab } from '../support/kernel-lab.js';
import { install, payloads, programs } from '../support/kernel-programs.js';

const options = (['borders', 'always'] as const).flatMap((validate) =>
  [true, false].map((generateCode) => ({ validate, generateCode })),
);

describe('what a program of handlers comes to', () => {
  it.each(['lab.parallel', 'lab.sequential', 'lab.sync'])(
    'is the same on %s with each value of validate and generateCode (§4.2, §6.2)',
    async (family) => {
      const classes = family === 'lab.parallel' ? (['observer'] as const) : undefined;
      let happened = 0;
      await fc.assert(
        fc.asyncProperty(programs(classes, 8), payloads, async (list, payload) => {
          const [first, ...others] = await Promise.all(
            options.map(async (option) => {
              const { kernel } = createLab({ ...option, ids: () => 'id' });
              install(kernel, family, list, (_, i) => -i);
              const outcome = await kernel.run(family, structuredClone(payload));
              happened += outcome.changes.length + outcome.failures.length;
              return {
                status: outcome.status,
                payload: outcome.payload,
                annotations: outcome.annotations,
                // writes of one patch: which of two new keys is first is not said
                changes: outcome.changes
                  .map((one) => `${byName(one)} ${one.path}${one.overruled ? ' overruled' : ''}`)
                  .sort(),
                failures: outcome.failures.map((one) => `${byName(one)} ${one.kind} ${one.policy}`),
                skipped: outcome.skipped.map((one) => `${byName(one)} ${one.why}`),
                cancel: outcome.status === 'cancelled' ? outcome.cancel : undefined,
                selected: outcome.selection === undefined ? '' : byName(outcome.selection),
                candidates: outcome.candidates.map((one) => [byName(one), one.invalid]),
                stale: outcome.staleApprovals.map((one) => [
                  byName(one),
                  one.changedBy.map(byName),
                ]),
              };
            }),
          );
          for (const other of others) expect(other).toEqual(first);
        }),
        { numRuns: 150 },
      );
      expect(happened).toBeGreaterThan(100); // the programs do something
    },
  );
});
