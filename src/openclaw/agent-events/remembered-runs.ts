import { Recent } from '@sluice/sdk/stream/internal';
import type { AgentEvent, AgentRunContext } from './event.js';

/** The memory for agent runs. The legacy module forgets none; here the runs that were silent longest are forgotten. */
export class RememberedRuns {
  readonly contexts: Recent<string, AgentRunContext>;
  /** Runs whose agent.* events somebody else dispatches. */
  readonly driven: Recent<string, true>;
  readonly #seqs: Recent<string, number>;
  /** The arguments of tool calls, until the tools answer. */
  readonly #params: Recent<string, unknown>;

  constructor(maxRuns: number) {
    this.contexts = new Recent(maxRuns);
    this.driven = new Recent(maxRuns);
    this.#seqs = new Recent(maxRuns);
    this.#params = new Recent(maxRuns);
  }

  /** The next number of a run, from 1. It goes on after the run's context is cleared. */
  nextSeq(runId: string): number {
    const seq = (this.#seqs.get(runId) ?? 0) + 1;
    this.#seqs.set(runId, seq);
    return seq;
  }

  /** Adds to what is known of a run: texts that are not empty, and flags that are said. */
  register(runId: string, context: AgentRunContext): void {
    if (!runId) return;
    const known = this.contexts.get(runId) ?? { ...context };
    this.contexts.set(runId, known);
    const { sessionKey, verboseLevel, isHeartbeat, isControlUiVisible } = context;
    if (sessionKey) known.sessionKey = sessionKey;
    if (verboseLevel) known.verboseLevel = verboseLevel;
    if (isHeartbeat !== undefined) known.isHeartbeat = isHeartbeat;
    if (isControlUiVisible !== undefined) known.isControlUiVisible = isControlUiVisible;
  }

  /** The arguments of a tool call, of which its start tells, for its result. */
  paramsOf({ runId, stream, data }: AgentEvent): unknown {
    if (stream !== 'tool' || typeof data?.toolCallId !== 'string') return undefined;
    const key = JSON.stringify([runId, data.toolCallId]);
    if (data.phase === 'start') this.#params.set(key, data.args);
    if (data.phase !== 'result') return undefined;
    const args = this.#params.get(key);
    this.#params.delete(key);
    return args;
  }
}
