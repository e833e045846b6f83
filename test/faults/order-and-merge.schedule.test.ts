import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allow, cancel, type HandlerClass, select } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import { faultClock } from '../support/faults-clock.js';
import { type Bag, type LabOutcome, labKernel } from '../support/kernel-lab.js';

interface Spec {
  readonly class: HandlerClass;
  readonly async: boolean;
  readonly throws: boolean;
  readonly detached: boolean;
}

const results: Readonly<Record<HandlerClass, (id: string) => unknown>> = {
  observer: () => undefined,
  augmenter: (id) => ({ notes: [id] }),
  mutator: (id) => ({ content: id, tags: { [id]: 1 }, tail: id }),
  veto: (id) => (id.endsWith('7') ? cancel('policy') : allow()),
  resolver: (id) => select({ to: id }),
};

/** The outcome without what a clock wrote. */
function timeless(outcome: LabOutcome): Bag {
  const { steps, ...rest } = outcome.toJSON() as { steps: readonly Bag[] } & Bag;
  return { ...rest, steps: steps.map(({ durationMs: _, ...step }) => step) };
}

function kernelOf(
  mode: 'parallel' | 'sequential',
  list: readonly Spec[],
  wait: (id: string) => Promise<unknown>,
) {
  const stage = faultStage({ mode });
  const kernel = labKernel([stage], { trace: true, clock: faultClock() });
  for (const [i, spec] of list.entries()) {
    const id = `h${i}`;
    const name = mode === 'parallel' ? 'observer' : spec.class;
    const finish = (): unknown => {
      if (spec.throws) throw new Error(id);
      return results[name](id);
    };
    kernel.contribute({
      family: stage.family,
      class: name,
      id,
      priority: -i,
      handler: () => (spec.async ? wait(id).then(finish) : finish()),
      ...(name === 'observer' && { detached: spec.detached }),
    });
  }
  return kernel;
}

const given = { eventId: 'e', occurredAt: 1 };
const specs = fc.array(
  fc.record({
    class: fc.constantFrom<HandlerClass>('observer', 'augmenter', 'mutator', 'veto', 'resolver'),
    async: fc.boolean(),
    throws: fc.boolean(),
    detached: fc.constant(false),
  }),
  { minLength: 2, maxLength: 9 },
);

describe('fault 23: every interleaving of async handlers gives the same result and trace (P)', () => {
  it.each(['parallel', 'sequential'] as const)('P: one dispatch on %s', async (mode) => {
    await fc.assert(
      fc.asyncProperty(specs, fc.scheduler(), async (list, scheduler) => {
        const plain = kernelOf(mode, list, () => Promise.resolve());
        const expected = timeless(await plain.dispatch('fault.stage', faultSample(), { ...given }));
        const kernel = kernelOf(mode, list, (id) => scheduler.schedule(Promise.resolve(), id));
        const running = kernel.dispatch('fault.stage', faultSample(), { ...given });
        await scheduler.waitFor(running);
        expect(timeless(await running)).toEqual(expected);
      }),
    );
  });

  it('P: several dispatches side by side do not mix (§4.3)', async () => {
    await fc.assert(
      fc.asyncProperty(specs, fc.scheduler(), async (list, scheduler) => {
        const alone = kernelOf('sequential', list, () => Promise.resolve());
        const kernel = kernelOf('sequential', list, (id) =>
          scheduler.schedule(Promise.resolve(), id),
        );
        const contents = ['a', 'b', 'c'];
        const running = contents.map((tail) =>
          kernel.dispatch('fault.stage', faultSample({ tail }), { ...given, eventId: tail }),
        );
        await scheduler.waitFor(Promise.all(running));
        for (const [i, tail] of contents.entries()) {
          const expected = await alone.dispatch('fault.stage', faultSample({ tail }), {
            ...given,
            eventId: tail,
          });
          const actual = await running[i];
          if (actual === undefined) throw new Error('it did not run');
          expect(timeless(actual)).toEqual(timeless(expected));
        }
        expect(kernel.stats()).toMatchObject({ waiting: 0, late: 0, stillRunning: [] });
      }),
    );
  });

  it.each([true, false])(
    'a detached observer stands in the trace in its place, async: %s (§12.3)',
    async (async) => {
      const plain = { class: 'observer', async: false, throws: false, detached: false } as const;
      const kernel = kernelOf(
        'sequential',
        [plain, { ...plain, async, detached: true }, plain],
        () => Promise.resolve(),
      );
      const { steps } = await kernel.dispatch('fault.stage', faultSample());
      expect(steps.map(({ contributionId }) => contributionId)).toEqual(['h0', 'h1', 'h2']);
    },
  );
});
