import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/kernel/internal.js';
import { contributor, createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

// the lab's stages: 400 ms for a handler, 1000 ms for a dispatch

const never = (): Promise<never> => new Promise(() => undefined);
const nothing = (): undefined => undefined;

/** A promise with what it came to, so that a test can ask without waiting. */
function watch(running: Promise<Outcome>): { outcome: Outcome | undefined } {
  const seen: { outcome: Outcome | undefined } = { outcome: undefined };
  void running.then((outcome) => {
    seen.outcome = outcome;
  });
  return seen;
}

describe('a given signal', () => {
  it.each(['lab.sequential', 'lab.parallel'])(
    'tells what runs, skips what has not run, and fails the dispatch, on %s (§10.6)',
    async (family) => {
      const { kernel, clock } = createLab();
      const add = contributor(kernel, family);
      const signals: AbortSignal[] = [];
      add('observer', 'a', (call) => {
        signals.push(call.signal);
        return never();
      });
      if (family === 'lab.sequential') add('observer', 'b', nothing);
      const controller = new AbortController();
      const seen = watch(kernel.dispatch(family, labSample(), { signal: controller.signal }));
      await clock.advance(5);
      controller.abort();
      await clock.advance(0);
      expect(seen.outcome?.status).toBe('failed');
      expect(seen.outcome?.failures.map(({ kind }) => kind)).toContain('aborted');
      expect(seen.outcome?.skipped.map(({ contributionId, why }) => [contributionId, why])).toEqual(
        family === 'lab.sequential' ? [['b', 'aborted']] : [],
      );
      expect(signals[0]?.aborted).toBe(true);
      expect(kernel.stats().waiting).toBe(0);
    },
  );

  it.each(['lab.sequential', 'lab.parallel'])(
    'that is aborted already lets nothing run, on %s (§10.6)',
    async (family) => {
      const { kernel } = createLab();
      let calls = 0;
      contributor(kernel, family)('observer', 'a', () => void calls++);
      const outcome = await kernel.dispatch(family, labSample(), { signal: AbortSignal.abort() });
      expect([outcome.status, calls]).toEqual(['failed', 0]);
      expect(outcome.skipped).toEqual([{ extensionId: 'x', contributionId: 'a', why: 'aborted' }]);
    },
  );

  it('that a handler aborts stops the handlers after it, in every mode (§10.6)', async () => {
    for (const family of ['lab.sequential', 'lab.parallel', 'lab.sync']) {
      const { kernel } = createLab();
      const controller = new AbortController();
      const add = contributor(kernel, family);
      let calls = 0;
      add('observer', 'a', () => controller.abort());
      add('observer', 'b', () => void calls++);
      const given = { signal: controller.signal };
      const outcome =
        family === 'lab.sync'
          ? kernel.dispatchSync(family, labSample(), given)
          : await kernel.dispatch(family, labSample(), given);
      expect([family, outcome.status, calls]).toEqual([family, 'failed', 0]);
    }
  });

  it('that the handler which is waited for aborts, ends its wait (§10.6)', async () => {
    for (const family of ['lab.sequential', 'lab.parallel']) {
      const { kernel, clock } = createLab();
      const controller = new AbortController();
      contributor(kernel, family)('observer', 'a', () => {
        controller.abort();
        return never();
      });
      const seen = watch(kernel.dispatch(family, labSample(), { signal: controller.signal }));
      await clock.advance(0);
      expect([family, seen.outcome?.status]).toEqual([family, 'failed']);
    }
  });

  it('that a tap aborts while it hears of a failure, gives up only those that have not settled (§10.6)', async () => {
    const controller = new AbortController();
    const { kernel, clock } = createLab({ tap: { failure: () => controller.abort() } });
    const add = contributor(kernel, 'lab.parallel');
    add('observer', 'a', async () => {
      throw new Error('no');
    });
    add('observer', 'b', never);
    const seen = watch(kernel.dispatch('lab.parallel', labSample(), { signal: controller.signal }));
    await clock.advance(0);
    const kinds = seen.outcome?.failures.map((one) => [one.contributionId, one.kind]);
    expect(kinds).toEqual([
      ['a', 'threw'],
      ['b', 'aborted'],
      [undefined, 'aborted'],
    ]);
    const running = kernel.stats().stillRunning.map(({ contributionId }) => contributionId);
    expect(running).toEqual(['b']);
  });

  it('leaves a late result to the dispatch that gave it up, whichever waits meanwhile (§10.6, §5.6)', async () => {
    for (const family of ['lab.sequential', 'lab.parallel']) {
      const { kernel, clock } = createLab();
      const settle: ((value: unknown) => void)[] = [];
      contributor(kernel, family)('observer', 'a', () => new Promise((done) => settle.push(done)));
      const controller = new AbortController();
      const first = watch(kernel.dispatch(family, labSample(), { signal: controller.signal }));
      controller.abort();
      await clock.advance(0);
      expect(first.outcome?.status).toBe('failed');
      const others = [1, 2, 3].map(() => watch(kernel.dispatch(family, labSample())));
      settle[2]?.(undefined);
      await clock.advance(0);
      settle[0]?.(undefined); // the late one
      await clock.advance(0);
      expect(others.map(({ outcome }) => outcome?.status)).toEqual([
        undefined,
        'passed',
        undefined,
      ]);
      expect([kernel.stats().late, kernel.stats().stillRunning]).toEqual([1, []]);
      settle[1]?.(undefined);
      settle[3]?.(undefined);
      await clock.advance(0);
      expect(others.map(({ outcome }) => outcome?.status)).toEqual(['passed', 'passed', 'passed']);
      expect(kernel.stats().late).toBe(1);
    }
  });

  it('keeps no listener once its dispatch has ended (§10.6)', async () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sequential')('observer', 'a', async () => undefined);
    const { signal } = new AbortController();
    let listening = 0;
    const counted = new Proxy(signal, {
      get: (target, key) => {
        if (key === 'addEventListener') listening++;
        if (key === 'removeEventListener') listening--;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await kernel.dispatch('lab.sequential', labSample(), { signal: counted });
    expect(listening).toBe(0);
  });
});

describe('a dispatch that is aborted while it gives up a handler', () => {
  const cases = ['lab.sequential', 'lab.parallel'].flatMap((family) => [
    { family, who: 'the handler', trace: false },
    { family, who: 'the handler', trace: true },
    { family, who: 'a tap', trace: false },
    { family, who: 'a tap', trace: true },
  ]);
  it.each(cases)(
    'by $who ends once, on $family, traced: $trace (§10.6)',
    async ({ family, who, trace }) => {
      const outcomes: Outcome[] = [];
      const controller = new AbortController();
      const abort = (): void => controller.abort();
      const tap = {
        outcome: (outcome: Outcome) => outcomes.push(outcome),
        ...(who === 'a tap' && { failure: abort }),
      };
      const { kernel, clock } = createLab({ trace, tap });
      const add = contributor(kernel, family);
      const slow = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
        if (who === 'the handler') signal.addEventListener('abort', abort);
        return never();
      };
      add('observer', 'a', slow, { timeoutMs: 50 });
      add('observer', 'b', never);
      add('observer', 'c', never, { timeoutMs: 50 });
      void kernel.dispatch(family, labSample(), { signal: controller.signal });
      await clock.advance(50);
      const [outcome, ...others] = outcomes;
      expect([outcome?.status, others]).toEqual(['failed', []]);
      const rest =
        family === 'lab.sequential'
          ? []
          : [
              ['b', 'aborted'],
              ['c', 'timed-out'],
            ];
      expect(outcome?.failures.map(({ contributionId, kind }) => [contributionId, kind])).toEqual([
        ['a', 'timed-out'],
        ...rest,
        [undefined, 'aborted'],
      ]);
      expect(kernel.stats()).toMatchObject({ dispatches: 1, failed: 1, waiting: 0 });
      expect((await kernel.close()).drained).toBe(true);
    },
  );

  it('by a tap that hears of a rejection keeps the step of it (§10.6, §12.1)', async () => {
    const controller = new AbortController();
    const tap = { failure: () => controller.abort() };
    const { kernel, clock } = createLab({ trace: true, tap });
    const add = contributor(kernel, 'lab.parallel');
    add('observer', 'a', () => Promise.reject(new Error('no')));
    add('observer', 'b', never);
    const running = kernel.dispatch('lab.parallel', labSample(), { signal: controller.signal });
    await clock.advance(0);
    expect((await running).steps.map(({ contributionId, why }) => [contributionId, why])).toEqual([
      ['a', 'threw'],
      ['b', 'aborted'],
    ]);
  });
});
