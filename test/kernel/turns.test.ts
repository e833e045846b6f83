import { describe, expect, it } from 'vitest';
import type { Clock, Outcome } from '../../src/kernel/internal.js';
import { systemClock } from '../../src/kernel/stage/ports.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { deferred, type LabKernel, labKernel } from '../support/kernel-lab.js';
import { labSample, labStages } from '../support/kernel-stages.js';

/** A virtual clock with turns that a test ends, and a count of its readings. */
function turning() {
  const clock = virtualClock();
  const ends: (() => void)[] = [];
  const seen = { readings: 0 };
  const counted: Clock = {
    ...clock,
    monotonicMs: () => {
      seen.readings++;
      return clock.monotonicMs();
    },
    afterTurn: (end) => {
      ends.push(end);
    },
  };
  const endTurn = (): void => {
    for (const end of ends.splice(0)) end();
  };
  const kernel = labKernel(labStages, { clock: counted });
  return { kernel, clock, seen, ends, endTurn };
}

const settled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<false>((no) => setImmediate(no, false))]);

function add(kernel: LabKernel, family: string, id: string, handler: () => unknown): void {
  kernel.contribute({ family, class: 'observer', extensionId: 'x', id, handler });
}

describe('the waits of a turn of the event loop', () => {
  it('read the clock once together, at its end (§10.3)', async () => {
    const { kernel, seen, ends, endTurn } = turning();
    const { promise, resolve } = deferred();
    for (const id of ['a', 'b', 'c']) add(kernel, 'lab.parallel', id, () => promise);
    const dispatched = [1, 2, 3].map(() => kernel.dispatch('lab.parallel', labSample()));
    expect([seen.readings, ends.length]).toEqual([0, 1]);
    endTurn();
    expect(seen.readings).toBe(1);
    resolve();
    await Promise.all(dispatched);
    expect(seen.readings).toBe(1);
  });

  it('read it not at all if all of them end in the turn (§10.3)', async () => {
    const { kernel, clock, seen, endTurn } = turning();
    for (const id of ['a', 'b']) add(kernel, 'lab.sequential', id, async () => undefined);
    for (let i = 0; i < 5; i++) await kernel.dispatch('lab.sequential', labSample());
    endTurn();
    expect([seen.readings, clock.pending]).toEqual([0, 0]);
  });

  it.each(['lab.sequential', 'lab.parallel'])(
    'end never early on %s: a budget counts from the end of the turn (§10.1, §10.3)',
    async (family) => {
      const { kernel, clock, endTurn } = turning();
      add(kernel, family, 'slow', () => new Promise(() => undefined)); // 400 ms
      const dispatched = kernel.dispatch(family, labSample());
      await clock.advance(300); // a turn that takes long
      expect(clock.pending).toBe(0);
      endTurn();
      await clock.advance(399);
      expect(await settled(dispatched)).toBe(false);
      await clock.advance(1);
      const outcome = await dispatched;
      expect(outcome.failures.map(({ kind }) => kind)).toEqual(['timed-out']);
    },
  );

  it('end in the order of their budgets, whichever turn they began in (§10.1, §10.2)', async () => {
    const { kernel, clock, endTurn } = turning();
    const order: string[] = [];
    const begin = (family: string): Promise<void> =>
      kernel.dispatch(family, labSample()).then(() => void order.push(family));
    for (const [family, timeoutMs] of [
      ['lab.sequential', 300],
      ['lab.parallel', 100],
    ] as const)
      kernel.contribute({
        ...{ family, class: 'observer', extensionId: 'x', id: family, timeoutMs },
        handler: () => new Promise(() => undefined),
      });
    const first = begin('lab.sequential');
    endTurn();
    await clock.advance(50);
    const second = begin('lab.parallel');
    endTurn();
    await clock.advance(99);
    expect(order).toEqual([]);
    await clock.advance(1);
    expect(order).toEqual(['lab.parallel']);
    await clock.advance(149);
    expect(order).toEqual(['lab.parallel']);
    await clock.advance(1);
    await Promise.all([first, second]);
    expect(order).toEqual(['lab.parallel', 'lab.sequential']);
    expect(clock.pending).toBe(0);
  });

  it('hold the stage to its budget from the first of them on (§10.2, §10.3)', async () => {
    const { kernel, clock, endTurn } = turning();
    for (const id of ['a', 'b', 'c'])
      kernel.contribute({
        ...{ family: 'lab.sequential', class: 'observer', extensionId: 'x', id },
        handler: () => new Promise(() => undefined), // 400 ms each, 1000 ms in all
      });
    const dispatched = kernel.dispatch('lab.sequential', labSample());
    endTurn();
    for (const ms of [400, 400, 199]) {
      await clock.advance(ms);
      endTurn();
    }
    expect(await settled(dispatched)).toBe(false);
    await clock.advance(1);
    expect((await dispatched).failures.map(({ kind }) => kind)).toEqual([
      ...['timed-out', 'timed-out', 'timed-out'],
    ]);
  });

  it('end on the platform’s clock not before their time, and not without end (§10.1, §10.3)', async () => {
    const kernel = labKernel(labStages, { clock: systemClock });
    kernel.contribute({
      ...{ family: 'lab.parallel', class: 'observer', extensionId: 'x', id: 'a', timeoutMs: 20 },
      handler: () => new Promise(() => undefined),
    });
    const beganMs = performance.now();
    const outcome: Outcome = await kernel.dispatch('lab.parallel', labSample());
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(20);
    expect(outcome.failures.map(({ kind }) => kind)).toEqual(['timed-out']);
  });

  it('keep the process alive while one of them lasts, and no longer (§10.1)', async () => {
    const refs: string[] = [];
    const clock = virtualClock();
    const ends: (() => void)[] = [];
    const kernel = labKernel(labStages, {
      clock: {
        ...clock,
        afterTurn: (end) => void ends.push(end),
        setTimeout: (callback, ms) => {
          clock.setTimeout(callback, ms);
          return { ref: () => refs.push('ref'), unref: () => refs.push('unref') };
        },
      },
    });
    const { promise, resolve } = deferred();
    add(kernel, 'lab.parallel', 'a', () => promise);
    const dispatched = kernel.dispatch('lab.parallel', labSample());
    for (const end of ends.splice(0)) end();
    expect(refs).toEqual([]); // a timer keeps it alive by itself
    resolve();
    await dispatched;
    expect(refs).toEqual(['unref']);
    const again = deferred();
    add(kernel, 'lab.parallel', 'b', () => again.promise);
    const second = kernel.dispatch('lab.parallel', labSample());
    for (const end of ends.splice(0)) end();
    again.resolve();
    await second;
    expect(refs).toEqual(['unref', 'ref', 'unref']);
  });
});
