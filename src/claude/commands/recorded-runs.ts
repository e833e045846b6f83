import type { MalformedLine } from '@sluice/cli';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { CsdkFrame } from '../frames/frame.js';
import { readFrames } from '../frames/read-frames.js';
import { liveRuns } from '../runs/live-runs.js';
import { normalizeSession } from '../runs/normalize-session.js';
import { subagentOf } from '../subagents/subagent-of.js';

/**
 * Gives an agent for each run of a recording. The frames of a background subagent stay in the run that started it (csdk §12.5).
 */
export async function* recordedRuns(
  lines: AsyncIterable<string>,
  onMalformed: (line: MalformedLine) => void,
): AsyncGenerator<AgentProvider> {
  const frames = readFrames(lines, onMalformed);
  for await (const run of liveRuns(frames, { end: 'settled', idleTimeoutMs: Infinity }))
    yield recorded(run);
}

function recorded(run: AsyncIterable<CsdkFrame>): AgentProvider {
  return {
    id: 'recorded',
    models: ['recorded'],
    toolGate: 'observe-only',
    subagentOf,
    run: ({ tell: report }) =>
      normalizeSession(run, { idleTimeoutMs: Infinity, onSubagent: report }),
  };
}
