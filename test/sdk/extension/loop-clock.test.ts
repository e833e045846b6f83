import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/internal.js';
import { LoopClock, type Ticks, tickMs } from '../../../src/sdk/extension/set/loop-clock.js';
import { compiled } from '../../support/compiled.js';
import { faultClock } from '../../support/faults-clock.js';
import { testFolder } from '../../support/folder.js';
import { untilItCounts } from './fixtures/until-it-counts.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('./fixtures/counts.ts', import.meta.url));

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

  it('goes on with the clock of the platform if the process may start no thread', () => {
    let tried = 0;
    const loopClock = new LoopClock(500, faultClock(), () => {
      tried++;
      throw new Error('access to this API has been restricted');
    });
    for (let beat = 0; beat < 2; beat++) {
      for (let i = 0; i < 10_000; i++) loopClock.readMs();
      loopClock.beat();
    }
    expect([tried, loopClock.counted[0], loopClock.limitMs]).toEqual([1, 0, 500]);
  });

  it('loads nothing into its thread that Node is told to load first', async () => {
    const first = join(testFolder(), 'first.cjs');
    writeFileSync(first, 'console.log(require("node:worker_threads").isMainThread)');
    const options = ['--require', first, await compiled(fixture)];
    const env = { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: `--require ${first}` };
    const { stdout } = await run(process.execPath, options, { env });
    expect(stdout.split('\n')).toEqual(['true', 'it counts', '']);
  });

  it('counts on while the event loop is blocked', async () => {
    using loopClock = new LoopClock(500, systemClock);
    await untilItCounts(loopClock);
    const { counted } = loopClock;
    const beganMs = counted[0];
    while (counted[0] - beganMs < 4 * tickMs); // nothing else runs here
    loopClock.beat();
    expect(loopClock.limitMs).toBe(500 - tickMs);
  });
});
