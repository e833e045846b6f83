/** The streams that a gateway's `agent` events come in (seed 003). */
export type AgentEventStream = 'lifecycle' | 'tool' | 'assistant' | 'thinking' | 'error';

/** An `agent` event of the gateway, as it comes over the wire (seed 003). */
export interface AgentEventPayload {
  runId: string;
  /** Its number within the run. */
  seq: number;
  stream: AgentEventStream;
  /** Milliseconds since 1970. */
  ts: number;
  data: Record<string, unknown>;
  sessionKey?: string;
}
