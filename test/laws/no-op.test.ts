import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handlerClasses, type Outcome } from '../../src/kernel/internal.js';
import { createLab, gist } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

/** An outcome without what names the no-op. */
function withoutIdle(outcome: Outcome): object {
  const idle = ({ contributionId }: { readonly contributionId?: string }): boolean =>
    contributionId === 'idle';
  return {
    ...gist(outcome),
    skipped: outcome.skipped.filter((one) => !idle(one)),
    steps: outcome.steps.filter((one) => !idle(one)).map(({ durationMs: _, ...rest }) => rest),
  };
}

describe('a handler that returns nothing', () => {
  it.each(
    ['lab.sequential', 'lab.sync'].flatMap((family) =>
      handlerClasses.map((name) => [name, family] as const),
    ),
  )(
    'of class %s on %s changes nothing of the outcome, wherever it stands (§3.2)',
    async (name, family) => {
      await fc.assert(
        fc.asyncProperty(programs(), fc.nat(), payloads, async (list, seed, payload) => {
          const at = seed % (list.length + 1);
          const idle: Program = { id: 'idle', class: name, returns: () => undefined, options: {} };
          const lists = [list, [...list.slice(0, at), idle, ...list.slice(at)]];
          const outcomes = lists.map(async (handlers) => {
            const { kernel } = createLab({ trace: true });
            install(kernel, family, handlers, (_, i) => -i);
            return withoutIdle(await kernel.run(family, structuredClone(payload)));
          });
          expect(await outcomes[1]).toEqual(await outcomes[0]);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('and parallel observers leave the outcome as it was emitted, whatever they do (§4.2)', async () => {
    await fc.assert(
      fc.asyncProperty(programs(['observer']), payloads, async (list, payload) => {
        const { kernel } = createLab();
        const emitted = structuredClone(payload);
        install(kernel, 'lab.parallel', list);
        const outcome = await kernel.dispatch('lab.parallel', emitted);
        expect(outcome.status).toBe('passed');
        expect(outcome.payload).toBe(emitted);
        expect(outcome.payload).toEqual(payload);
        expect(outcome.changes).toEqual([]);
      }),
    );
  });
});
