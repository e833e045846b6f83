import { BackgroundWork } from '../frames/background-work.js';
import { type CsdkFrame, isFields } from '../frames/frame.js';

/**
 * When a run is over: at its `result`, or, with `settled`, at the first result that leaves no task in the background, or when
 * the session says after a result that it is idle (csdk §12.2).
 */
export type RunsEnd = 'result' | 'settled';

/** Reads the frames of one run, and tells when it is over. */
export function runEnds(end: RunsEnd) {
  const work = new BackgroundWork();

  return {
    /** @returns true if this frame is the run's last one. */
    take(frame: CsdkFrame): boolean {
      if (!isFields(frame)) return false; // a source without types: told by who reads the run
      if (speaks(frame)) work.spoke();
      if (frame.type === 'result') {
        const isOfNone = work.result(frame) === 'none';
        return end === 'result' ? !isOfNone : work.rest === 'over';
      }
      if (frame.type === 'conversation_reset') work.clear();
      if (frame.type !== 'system') return false;
      if (frame.subtype === 'init') work.turnBegan();
      else work.system(frame);
      return work.rest === 'over';
    },
    work,
  };
}

/** Returns whether the model speaks in a frame: in the main thread, for a subagent in the background may outlive a run. */
export function speaks(frame: CsdkFrame): boolean {
  if (!isFields(frame) || typeof frame.parent_tool_use_id === 'string') return false;
  return frame.type === 'assistant' || frame.type === 'stream_event';
}
