import type { Clock, Logger } from 'sluice-kernel';
import type { AgentEventInput, AgentEventListener, AgentRunContext } from './event.js';

/** How the agent event bus is bridged. */
export interface AgentEventsOptions {
  /** The extension that it listens to the pipeline as; `agent-events` by default. */
  readonly extensionId?: string;
  readonly logger?: Logger;
  readonly clock?: Clock;
  /**
   * Runs whose numbers and contexts are remembered at most; 10,000 by default. The legacy module forgets none: a run
   * that is forgotten here and heard of again counts from 1 again.
   */
  readonly maxRuns?: number;
}

/** The counts of a bridge. */
export interface AgentEventsStats {
  /** Listeners that are registered now. */
  readonly listeners: number;
  readonly emitted: number;
  /** Events that became a canonical dispatch. */
  readonly dispatched: number;
  /** Events of runs that a turn drives, or of facts that the plugin hooks dispatch: only listeners heard them. */
  readonly left: number;
  /** Events that no family is for: only listeners heard them. */
  readonly unmapped: number;
  /** Events whose data do not fit their family: only listeners heard them. */
  readonly misfits: number;
  /** Canonical dispatches of others that listeners were told of. */
  readonly told: number;
  /** Times that a listener threw, or its promise was rejected. */
  readonly failures: number;
}

/** The agent event bus of the legacy system, on the pipeline: a source and a sink of canonical events. */
export interface AgentEvents extends Disposable {
  /**
   * Emits an event. Listeners are called at once, in order of registration; then it is dispatched as what it is in the
   * pipeline. Nothing comes back, and nothing is thrown for what a listener or a handler does.
   */
  emitAgentEvent(event: AgentEventInput): void;
  /** Adds a listener, once. The function returned takes it away, and says whether it was there. */
  onAgentEvent(listener: AgentEventListener): () => boolean;
  /** Adds to what is known of a run. An empty run id is passed over. */
  registerAgentRunContext(runId: string, context: AgentRunContext): void;
  getAgentRunContext(runId: string): AgentRunContext | undefined;
  /** Forgets what was registered of a run; its numbers go on. */
  clearAgentRunContext(runId: string): void;
  /** Resolves when every canonical dispatch that was begun so far has ended. */
  idle(): Promise<void>;
  stats(): AgentEventsStats;
}
