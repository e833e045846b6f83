import { createReadStream } from 'node:fs';
import { type AgentProvider, isPrompt, readLines } from '@sluice/sdk/stream';
import {
  type CsdkFrame,
  type MalformedLine,
  normalizeSession,
  readFrames,
  splitRuns,
  subagentOf,
} from '../index.js';

/**
 * An agent that answers with a recorded CSDK stream. A recording may hold several runs, each ended by the
 * first `result` frame that leaves no task in the background (csdk §12.5): the n-th message of a session gets the n-th run, and after the last it starts over. Which one is
 * next is read from the session's transcript, so a restart changes nothing. Its tools have run long ago: they can
 * only be observed.
 *
 * @param frames the recording, in order.
 * @example
 * const provider = replayProvider(await readRecording('text.jsonl', warn));
 */
export function replayProvider(frames: readonly CsdkFrame[]): AgentProvider {
  const runs = splitRuns(frames, { end: 'settled' });
  return {
    id: 'replay',
    models: ['recorded'],
    toolGate: 'observe-only',
    subagentOf,
    run: ({ history, beforeHistory, tell: report }) => {
      const asked = (beforeHistory?.prompts ?? 0) + history.filter(isPrompt).length;
      return normalizeSession(runs[asked % runs.length] ?? [], {
        idleTimeoutMs: Infinity,
        onSubagent: report,
      });
    },
  };
}

/**
 * Reads a recording: one JSON message a line.
 *
 * @param onMalformed is told each line that is none; the rest is read on.
 * @throws what the file system says: no such file, no permission.
 * @example
 * const provider = replayProvider(await readRecording('run.jsonl', warn));
 */
export async function readRecording(
  path: string,
  onMalformed: (line: MalformedLine) => void,
): Promise<readonly CsdkFrame[]> {
  const frames: CsdkFrame[] = [];
  for await (const frame of readFrames(readLines(createReadStream(path)), onMalformed))
    frames.push(frame);
  return frames;
}
