import { type CsdkFrame, isFields } from '../frames/frame.js';

/**
 * Splits a recording into its runs: each ends with its `result` frame. What follows the last result is a run of
 * its own only if the model speaks in it; a recording that was cut off ends so. `liveRuns` does this to a stream.
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
  if (run.some(speaks) || runs.length === 0) runs.push(run);
  return runs;
}

/** Tells whether the model speaks in a frame: in the main thread, for a subagent in the background may outlive a run. */
export function speaks(frame: CsdkFrame): boolean {
  if (!isFields(frame) || typeof frame.parent_tool_use_id === 'string') return false;
  return frame.type === 'assistant' || frame.type === 'stream_event';
}
