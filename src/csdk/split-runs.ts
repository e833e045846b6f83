import type { CsdkFrame } from './frame.js';

/**
 * Splits a recording into its runs: each ends with its `result` frame. What follows the last result is a run of
 * its own only if the model speaks in it; a recording that was cut off ends so.
 *
 * @example
 * splitRuns(framesOfTwoTurns).length; // 2
 */
export function splitRuns(frames: readonly CsdkFrame[]): readonly (readonly CsdkFrame[])[] {
  const runs: CsdkFrame[][] = [];
  let run: CsdkFrame[] = [];
  for (const frame of frames) {
    run.push(frame);
    if (frame.type !== 'result') continue;
    runs.push(run);
    run = [];
  }
  const speaks = run.some(({ type }) => type === 'assistant' || type === 'stream_event');
  if (speaks || runs.length === 0) runs.push(run);
  return runs;
}
