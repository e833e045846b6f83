import { type Profiler, Session } from 'node:inspector/promises';
import { setImmediate as turn } from 'node:timers/promises';

/** V8 may count a call twice if it compiles the function anew meanwhile: the count is the median of some runs. */
const runs = 5;

/**
 * Counts the calls of functions while something runs, so that a test can say what it costs without a clock.
 *
 * @param path a part of the paths of the files whose functions count.
 * @param run is called some times, each after what was begun before has ended. If it gives a promise, it runs until that settles.
 */
export async function countedCalls(path: string, run: () => void | Promise<void>): Promise<number> {
  const counts: number[] = [];
  for (let i = 0; i < runs; i++) counts.push(await countedOnce(path, run));
  return counts.sort((a, b) => a - b)[(runs - 1) / 2] ?? 0;
}

async function countedOnce(path: string, run: () => void | Promise<void>): Promise<number> {
  await turn();
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage'); // what was called until now is not counted
    const running = run();
    if (running !== undefined) await running;
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.filter(({ url }) => url.includes(path)).reduce((sum, one) => sum + of(one), 0);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

function of({ functions }: Profiler.ScriptCoverage): number {
  return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}
