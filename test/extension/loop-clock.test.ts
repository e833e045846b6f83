import { describe, expect, it } from 'vitest';
import { LoopClock, type Ticks, tickMs } from '../../src/extension/set/loop-clock.js';
import { systemClock } from '../../src/kernel/index.js';
import { faultClock } from '../support/faults-clock.js';

/** A loop clock whose thread counts what the test says. */
function clockWithThread() {
  const counted = [0] as [number];
  const threads: Ticks[] = [];
  let stopped = 0;
  const startTicks = (): Ticks => {
    const ticks = { counted, [Symbol.dispose]: () => void stopped++ };
    threads.push(ticks);
    return ticks;
  };
  const loopClock = new LoopClock(500, faultClock(), startTicks);
  const read = (times: number) => {
    for (let i = 0; i < times; i++) loopClock.readMs();
  };
  return { counted, threads, loopClock, read, stopped: () => stopped };
}

/** Gives the event loop a turn. */
const turn = () => new Promise(setImmediate);

describe('the clock of a watch of handlers (§13.11)', () => {
  it('starts no thread as long as few calls are measured', () => {
    const { threads, loopClock, read } = clockWithThread();
    for (let beat = 0; beat < 10; beat++) {
      read(9_999);
      loopClock.beat();
    }
    expect(threads).toEqual([]);
    expect([loopClock.counted[0], loopClock.limitMs]).toEqual([0, 500]);
  });

  it('starts one thread when many are, and goes by its count as soon as it counts', () => {
    const { threads, counted, loopClock, read } = clockWithThread();
    for (let beat = 0; beat < 3; beat++) {
      read(10_000);
      loopClock.beat();
    }
    expect(threads).toHaveLength(1);
    expect([loopClock.counted[0], loopClock.limitMs]).toEqual([0, 500]); // it does not run yet
    counted[0] = 25;
    expect(loopClock.counted[0]).toBe(0); // not within a call
    loopClock.beat();
    expect([loopClock.counted[0], loopClock.limitMs]).toEqual([25, 500 - tickMs]);
    counted[0] = 525;
    expect(loopClock.counted[0]).toBe(525);
  });

  it('reads the clock again if its thread fails, and stops it when it is disposed', () => {
    const { counted, loopClock, read, stopped } = clockWithThread();
    read(10_000);
    counted[0] = 25;
    loopClock.beat();
    counted[0] = 0;
    loopClock.beat();
    expect([loopClock.counted[0], loopClock.limitMs]).toEqual([0, 500]);
    loopClock[Symbol.dispose]();
    expect(stopped()).toBe(1);
  });

  it('counts on while the event loop is blocked', async () => {
    using loopClock = new LoopClock(500, systemClock);
    while (loopClock.counted[0] === 0) {
      for (let i = 0; i < 10_000; i++) loopClock.readMs();
      loopClock.beat();
      await turn();
    }
    const { counted } = loopClock;
    const beganMs = counted[0];
    while (counted[0] - beganMs < 4 * tickMs); // nothing else runs here
    loopClock.beat();
    expect(loopClock.limitMs).toBe(500 - tickMs);
  });
});
