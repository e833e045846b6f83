/** An event as it is emitted on the agent event bus. Further fields go on to the listeners as they are. */
export interface AgentEventInput {
  runId: string;
  /** lifecycle, tool, assistant, thinking, compaction, error, or any other: the set is open. */
  stream: string;
  data: Record<string, unknown>;
  sessionKey?: string;
}

/** An agent event, as listeners get it. They share one object. */
export interface AgentEvent extends Omit<AgentEventInput, 'sessionKey'> {
  /** Its number within its run, from 1, over all streams. */
  seq: number;
  /** Milliseconds since 1970. */
  ts: number;
  sessionKey: string | undefined;
}

/** Hears agent events, in the stack of whoever emits them. */
export type AgentEventListener = (event: AgentEvent) => void;

/** The context of a run, as far as it is known. */
export interface AgentRunContext {
  sessionKey?: string;
  verboseLevel?: 'off' | 'on' | 'full';
  isHeartbeat?: boolean;
  /** `false` keeps the session key out of the run's events. */
  isControlUiVisible?: boolean;
}
