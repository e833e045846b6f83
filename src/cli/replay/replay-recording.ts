import { runAgentTurn } from '../../agent/index.js';
import { type CsdkFrame, liveRuns, normalizeSession, subagentOf } from '../../csdk/index.js';
import type { Kernel, Logger } from '../../kernel/index.js';
import type { AgentProvider, TranscriptEntry } from '../../stream/index.js';

/** A recording, with the pipeline that it goes through. */
export interface Replaying {
  readonly kernel: Kernel;
  readonly logger: Logger;
  /** The name of its session and of its runs. */
  readonly name: string;
  readonly frames: AsyncIterable<CsdkFrame>;
  /** Ends it after the run that it has reached. */
  readonly stop: AbortSignal;
}

/** A recording holds what the agent sent, not what it was asked. */
const prompt = '(not recorded)';

/**
 * Carries a recording through the pipeline: each of its runs is an agent turn of one session. Nothing is sent
 * anywhere. The recording is read as a stream: one frame at a time, as the turn wants it. The frames of a background subagent
 * stay in the turn that started it (csdk §12.5).
 */
export async function replayRecording(replaying: Replaying): Promise<void> {
  const { kernel, logger, name, frames, stop } = replaying;
  const history: TranscriptEntry[] = [];
  let count = 0;
  for await (const run of liveRuns(frames, { end: 'settled' })) {
    if (stop.aborted) return;
    await runAgentTurn({
      kernel,
      logger,
      provider: recorded(run),
      runId: `${name}#${++count}`,
      session: {
        agentId: 'recorded',
        sessionKey: name,
        sessionId: name,
        history: [...history],
        append: (message) => {
          history.push(message);
        },
      },
      message: { text: prompt },
      trigger: 'replay',
    });
  }
}

function recorded(run: AsyncIterable<CsdkFrame>): AgentProvider {
  return {
    id: 'recorded',
    models: ['recorded'],
    toolGate: 'observe-only',
    subagentOf,
    run: ({ tell }) =>
      normalizeSession(run, { end: 'idle', idleTimeoutMs: Infinity, onSubagent: tell }),
  };
}
