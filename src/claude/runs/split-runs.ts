import type { CsdkFrame } from '../frames/frame.js';
import { type RunsEnd, runEnds, speaks } from './run-ends.js';

/**
 * Splits a recording into its runs: each ends with its `result` frame, or as `end` says. What follows the last run is a run
 * of its own only if it has a result or the model speaks in it; a recording that was cut off ends so. `liveRuns` does this to
 * a stream.
 *
 * @param options.end as in `liveRuns`. Read a run that is `settled` with `end: 'idle'`.
 * @example
 * splitRuns(framesOfTwoTurns).length; // 2
 */
export function splitRuns(
  frames: readonly CsdkFrame[],
  { end = 'result' }: { readonly end?: RunsEnd } = {},
): readonly (readonly CsdkFrame[])[] {
  const runs: CsdkFrame[][] = [];
  let run: CsdkFrame[] = [];
  let ends = runEnds(end);
  for (const frame of frames) {
    run.push(frame);
    if (!ends.take(frame)) continue;
    runs.push(run);
    run = [];
    ends = runEnds(end);
  }
  if (run.some((frame) => speaks(frame) || frame.type === 'result') || runs.length === 0)
    runs.push(run);
  return runs;
}
