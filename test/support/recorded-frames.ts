import { type CsdkFrame, splitRuns } from '../../src/claude/index.js';
import { recordings } from './recordings.js';

/** A run of a recording: what comes up to a result, or what was cut off before one. */
export interface RecordedFrames {
  readonly name: string;
  readonly frames: readonly CsdkFrame[];
  readonly lines: readonly string[];
}

/** The runs of every recording. */
export function recordedFrames(): readonly RecordedFrames[] {
  return recordings().flatMap(({ name, lines }) =>
    splitRuns(lines.map((line) => JSON.parse(line) as CsdkFrame)).map((frames, index) => ({
      name: `${name} #${index + 1}`,
      frames,
      lines: frames.map((frame) => JSON.stringify(frame)),
    })),
  );
}
