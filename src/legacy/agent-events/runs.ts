import { Recent } from '../../stream/internal.js';
import type { AgentRunContext } from './event.js';

/** The memory for agent runs. The legacy module forgets none; here the runs that were silent longest are forgotten. */
export class Runs {
  readonly #seqs: Recent<string, number>;
  readonly #contexts: Recent<string, AgentRunContext>;
  /** Runs whose agent.* events somebody else dispatches. */
  readonly #driven: Recent<string, true>;
  /** The arguments of tool calls, until the tools answer. */
  readonly #params: Recent<string, unknown>;

  constructor(maxRuns: number) {
    this.#seqs = new Recent(maxRuns);
    this.#contexts = new Recent(maxRuns);
    this.#driven = new Recent(maxRuns);
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
    const existing = this.#contexts.get(runId);
    if (existing === undefined) {
      this.#contexts.set(runId, { ...context });
      return;
    }
    const { sessionKey, verboseLevel, isHeartbeat, isControlUiVisible } = context;
    if (sessionKey) existing.sessionKey = sessionKey;
    if (verboseLevel) existing.verboseLevel = verboseLevel;
    if (isHeartbeat !== undefined) existing.isHeartbeat = isHeartbeat;
    if (isControlUiVisible !== undefined) existing.isControlUiVisible = isControlUiVisible;
    this.#contexts.set(runId, existing);
  }

  context(runId: string): AgentRunContext | undefined {
    return this.#contexts.get(runId);
  }

  clear(runId: string): void {
    this.#contexts.delete(runId);
  }

  markDriven(runId: string): void {
    this.#driven.set(runId, true);
  }

  isDriven(runId: string): boolean {
    return this.#driven.has(runId);
  }

  keepParams(runId: string, toolCallId: string, params: unknown): void {
    this.#params.set(keyOf(runId, toolCallId), params);
  }

  takeParams(runId: string, toolCallId: string): unknown {
    const key = keyOf(runId, toolCallId);
    const params = this.#params.get(key);
    this.#params.delete(key);
    return params;
  }
}

function keyOf(runId: string, toolCallId: string): string {
  return JSON.stringify([runId, toolCallId]);
}
