import { Recent } from '../../sdk/stream/internal.js';
import type { AgentRunContext } from './event.js';

/** The memory for agent runs. The legacy module forgets none; here the runs that were silent longest are forgotten. */
export function runs(maxRuns: number) {
  const seqs = new Recent<string, number>(maxRuns);
  const contexts = new Recent<string, AgentRunContext>(maxRuns);
  /** The arguments of tool calls, until the tools answer. */
  const params = new Recent<string, unknown>(maxRuns);
  return {
    contexts,
    /** Runs whose agent.* events somebody else dispatches. */
    driven: new Recent<string, true>(maxRuns),
    /** The next number of a run, from 1. It goes on after the run's context is cleared. */
    nextSeq(runId: string): number {
      const seq = (seqs.get(runId) ?? 0) + 1;
      seqs.set(runId, seq);
      return seq;
    },
    /** Adds to what is known of a run: texts that are not empty, and flags that are said. */
    register(runId: string, context: AgentRunContext): void {
      if (!runId) return;
      const existing = contexts.get(runId);
      if (existing === undefined) {
        contexts.set(runId, { ...context });
        return;
      }
      const { sessionKey, verboseLevel, isHeartbeat, isControlUiVisible } = context;
      if (sessionKey) existing.sessionKey = sessionKey;
      if (verboseLevel) existing.verboseLevel = verboseLevel;
      if (isHeartbeat !== undefined) existing.isHeartbeat = isHeartbeat;
      if (isControlUiVisible !== undefined) existing.isControlUiVisible = isControlUiVisible;
      contexts.set(runId, existing);
    },
    keepParams(runId: string, toolCallId: string, args: unknown): void {
      params.set(keyOf(runId, toolCallId), args);
    },
    takeParams(runId: string, toolCallId: string): unknown {
      const key = keyOf(runId, toolCallId);
      const args = params.get(key);
      params.delete(key);
      return args;
    },
  };
}

function keyOf(runId: string, toolCallId: string): string {
  return JSON.stringify([runId, toolCallId]);
}
