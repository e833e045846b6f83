import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/kernel/internal.js';
import { createLab, gist, type LabHandler } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

/** Which handlers return at once, and which wait for the scheduler. */
const mixed = (list: readonly Program[]): fc.Arbitrary<boolean[]> =>
  fc.array(fc.boolean(), { minLength: list.length, maxLength: list.length });

/** A handler that settles when the scheduler lets it. */
function slowly(scheduler: fc.Scheduler, handler: LabHandler): LabHandler {
  return async (call, own) => {
    await scheduler.schedule(Promise.resolve(), own.contributionId);
    return handler(call, own);
  };
}

async function play(
  family: string,
  list: readonly Program[],
  slow: readonly boolean[],
  payload: object,
  scheduler: fc.Scheduler | undefined,
  times = 1,
): Promise<Outcome[]> {
  const { kernel } = createLab({ trace: true });
  install(
    kernel,
    family,
    list,
    (_, i) => -i,
    (handler, program) =>
      scheduler !== undefined && slow[list.indexOf(program)] === true
        ? slowly(scheduler, handler)
        : handler,
  );
  const running = Array.from({ length: times }, () =>
    kernel.dispatch(family, structuredClone(payload)),
  );
  await scheduler?.waitIdle();
  return Promise.all(running);
}

describe('every interleaving of async handlers', () => {
  it('of a sequential stage gives the same outcome and the same steps (§4.3)', async () => {
    const cases = programs().chain((list) => fc.tuple(fc.constant(list), mixed(list)));
    await fc.assert(
      fc.asyncProperty(
        cases,
        payloads,
        fc.scheduler(),
        async ([list, slow], payload, scheduler) => {
          const [expected] = await play('lab.sequential', list, slow, payload, undefined);
          const found = await play('lab.sequential', list, slow, payload, scheduler, 3);
          for (const outcome of found) expect(gist(outcome)).toEqual(gist(expected as Outcome));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('of a parallel stage gives the same outcome (§4.2)', async () => {
    const cases = programs(['observer']).chain((list) => fc.tuple(fc.constant(list), mixed(list)));
    const bare = (outcome: Outcome): object => ({ ...gist(outcome), failures: [], steps: [] });
    const failing = (outcome: Outcome): string[] =>
      outcome.failures.map((one) => `${one.contributionId} ${one.kind} ${one.message}`).sort();
    await fc.assert(
      fc.asyncProperty(
        cases,
        payloads,
        fc.scheduler(),
        async ([list, slow], payload, scheduler) => {
          const [expected] = await play('lab.parallel', list, slow, payload, undefined);
          const found = await play('lab.parallel', list, slow, payload, scheduler, 2);
          for (const outcome of found) {
            expect(bare(outcome)).toEqual(bare(expected as Outcome));
            expect(failing(outcome)).toEqual(failing(expected as Outcome));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('of a parallel stage gives its steps and failures in run order (§12.3, §4.2)', async () => {
    const cases = programs(['observer']).chain((list) => fc.tuple(fc.constant(list), mixed(list)));
    await fc.assert(
      fc.asyncProperty(
        cases,
        payloads,
        fc.scheduler(),
        async ([list, slow], payload, scheduler) => {
          const [expected] = await play('lab.parallel', list, slow, payload, undefined);
          const [found] = await play('lab.parallel', list, slow, payload, scheduler);
          expect(gist(found as Outcome)).toEqual(gist(expected as Outcome));
        },
      ),
      { numRuns: 100 },
    );
  });
});
