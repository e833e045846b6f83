import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetMs, faultSample, faultStage } from '../support/faults.js';
import { faultClock, settleAll } from '../support/faults-clock.js';
import { type LabOutcome, labKernel } from '../support/kernel-lab.js';

const dayMs = 86_400_000;
const stage = faultStage();
const isSorted = (list: readonly string[]): boolean =>
  list.every((id, i) => i === 0 || (list[i - 1] ?? '') < id);

describe('fault 38: the wall clock steps -> ids stay in order, timeouts are unaffected', () => {
  it('P: ids sort by order of dispatch, whatever the clock does and whenever they are read (§1.3)', async () => {
    const step = fc.oneof(fc.integer({ min: -dayMs, max: dayMs }), fc.constantFrom(0, -1, 1));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(5)), { maxLength: 20 }), async (steps) => {
        const clock = faultClock();
        const kernel = labKernel([stage], { clock });
        const outcomes: LabOutcome[] = [];
        for (const [ms, more] of steps) {
          clock.stepWall(ms);
          for (let i = 0; i <= more; i++)
            outcomes.push(await kernel.dispatch(stage.family, faultSample()));
        }
        const backwards = [...outcomes].reverse().map(({ event }) => event.eventId); // made when first read
        expect(isSorted(backwards.reverse())).toBe(true);
        expect(new Set(backwards).size).toBe(outcomes.length);
      }),
    );
  });

  it('occurredAt says what the clock said; only the id does not go back (§1.2)', async () => {
    const clock = faultClock(1_000_000);
    const kernel = labKernel([stage], { clock });
    const first = await kernel.dispatch(stage.family, faultSample());
    clock.stepWall(-500_000);
    const second = await kernel.dispatch(stage.family, faultSample());
    expect([first, second].map(({ event }) => event['occurredAt'])).toEqual([1_000_000, 500_000]);
    expect(isSorted([first, second].map(({ event }) => event.eventId))).toBe(true);
  });

  it('a given occurredAt, or eventId, is taken as it is, and does not disorder the others', async () => {
    const clock = faultClock(1_000_000);
    const kernel = labKernel([stage], { clock });
    const ids: string[] = [];
    for (const occurredAt of [undefined, 5, 9e12, undefined, 0]) {
      const given = occurredAt === undefined ? {} : { occurredAt };
      const { event } = await kernel.dispatch(stage.family, faultSample(), given);
      if (occurredAt !== undefined) expect(event['occurredAt']).toBe(occurredAt);
      ids.push(event.eventId);
    }
    expect(isSorted(ids)).toBe(true);
    const named = await kernel.dispatch(stage.family, faultSample(), { eventId: 'tg:42' });
    expect(named.event).toMatchObject({ eventId: 'tg:42', correlationId: 'tg:42' });
  });

  it('two kernels on one clock do not share ids', async () => {
    const clock = faultClock();
    const ids = new Set<string>();
    for (let i = 0; i < 50; i++) {
      const kernel = labKernel([stage], { clock });
      ids.add((await kernel.dispatch(stage.family, faultSample())).event.eventId);
    }
    expect(ids.size).toBe(50);
  });

  it.each([-dayMs, dayMs, -1])(
    'a step of %i ms neither hastens nor delays a timeout (§10.3)',
    async (ms) => {
      const clock = faultClock();
      const kernel = labKernel([stage], { clock });
      const never = () => new Promise(() => undefined);
      kernel.contribute({ family: stage.family, class: 'observer', id: 'a', handler: never });
      const ended: LabOutcome[] = [];
      void kernel.dispatch(stage.family, faultSample()).then((outcome) => ended.push(outcome));
      clock.stepWall(ms);
      clock.advance(budgetMs - 1);
      clock.stepWall(ms);
      await settleAll();
      expect(ended).toEqual([]);
      clock.advance(1);
      await settleAll();
      expect(ended[0]?.failures).toMatchObject([{ kind: 'timed-out' }]);
    },
  );

  it('durations in the trace are of the monotonic clock, never below 0 (§12.3)', async () => {
    const clock = faultClock();
    const kernel = labKernel([stage], { clock, trace: true });
    kernel.contribute({
      family: stage.family,
      class: 'observer',
      id: 'a',
      handler: () => {
        clock.stepWall(-dayMs);
        clock.advance(3);
      },
    });
    const { steps } = await kernel.dispatch(stage.family, faultSample());
    expect(steps.map(({ durationMs }) => durationMs)).toEqual([3]);
  });
});
