import { describe, expect, it } from 'vitest';
import { virtualClock, virtualStartMs } from '../../src/testing/index.js';

describe('the virtual clock (§13)', () => {
  it('stands still until it is advanced, and then both of its times go on together', async () => {
    const clock = virtualClock();
    expect([clock.now(), clock.monotonicMs()]).toEqual([virtualStartMs, 0]);
    await clock.advance(1_500);
    expect([clock.now(), clock.monotonicMs()]).toEqual([virtualStartMs + 1_500, 1_500]);
    expect(virtualClock(0).now()).toBe(0);
  });

  it('fires timers in order of their time, then of their setting, each at its own moment', async () => {
    const clock = virtualClock();
    const fired: string[] = [];
    const at = (name: string, ms: number) =>
      clock.setTimeout(() => fired.push(`${name} at ${clock.monotonicMs()}`), ms);
    at('late', 30);
    at('first', 10);
    at('second', 10);
    at('not yet', 31);
    expect(clock.pending).toBe(4);
    await clock.advance(30);
    expect(fired).toEqual(['first at 10', 'second at 10', 'late at 30']);
    expect(clock.pending).toBe(1);
  });

  it('does not fire what was cleared, also by a timer of the same moment', async () => {
    const clock = virtualClock();
    const fired: string[] = [];
    clock.setTimeout(() => clock.clearTimeout(second), 5);
    const second = clock.setTimeout(() => fired.push('second'), 5);
    await clock.advance(10);
    expect(fired).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('lets everything that waits for a promise go on before the next timer', async () => {
    const clock = virtualClock();
    const order: string[] = [];
    const sleep = (ms: number) =>
      new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
    const work = async () => {
      await null;
      for (const step of ['a', 'b']) {
        await sleep(10);
        for (let i = 0; i < 50; i++) await null;
        order.push(step);
      }
    };
    void work();
    clock.setTimeout(() => order.push('timer'), 15);
    await clock.advance(20);
    expect(order).toEqual(['a', 'timer', 'b']);
  });

  it.each([0, -1, Number.NaN])(
    'waits 1 ms where %s is asked for, as the platform does',
    async (ms) => {
      const clock = virtualClock();
      let times = 0;
      const again = () => {
        times++;
        clock.setTimeout(again, ms);
      };
      clock.setTimeout(again, ms);
      await clock.advance(3);
      expect(times).toBe(3);
    },
  );

  it('throws what a timer throws, and stands there', async () => {
    const clock = virtualClock();
    clock.setTimeout(() => {
      throw new Error('stuck');
    }, 5);
    await expect(clock.advance(10)).rejects.toThrow('stuck');
    expect(clock.monotonicMs()).toBe(5);
  });

  it('does not go back', async () => {
    await expect(virtualClock().advance(-1)).rejects.toThrow(RangeError);
  });
});
