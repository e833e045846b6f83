import type { AgentEventPayload, AgentEventStream } from '@sluice/sdk/stream';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** An `agent` event as it comes over the wire: more tolerant than the public type. */
const wireAgentEvent = Type.Object({
  runId: Type.String({ minLength: 1 }),
  stream: Type.String(),
  /** Absent if the gateway itself reports something of the run. */
  seq: Type.Optional(Type.Integer({ minimum: 1 })),
  ts: Type.Optional(Type.Number()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  sessionKey: Type.Optional(Type.String()),
});

const isAgentEvent = Compile(wireAgentEvent);

/** An `agent` event as it came. */
export type WireAgentEvent = Static<typeof wireAgentEvent>;

/** An `agent` event of a stream that seed 003 does not name, such as `compaction`. */
export interface OtherAgentEvent extends Omit<AgentEventPayload, 'stream'> {
  stream: string;
}

/** Reads the payload of an `agent` event; nothing if it is none. */
export function readAgentEvent(payload: unknown): WireAgentEvent | undefined {
  return isAgentEvent.Check(payload) ? payload : undefined;
}

const streams: ReadonlySet<string> = new Set<AgentEventStream>([
  'lifecycle',
  'tool',
  'assistant',
  'thinking',
  'error',
]);

/** Returns whether an event is of one of the streams that seed 003 names. */
export function isNamedStream(event: OtherAgentEvent): event is AgentEventPayload {
  return streams.has(event.stream);
}

/**
 * Returns whether an event is the gateway's note that it has missed events of the run. The run goes on, and the
 * next snapshot heals the gap.
 */
export function isGapReport({ stream, data }: WireAgentEvent): boolean {
  return stream === 'error' && data?.reason === 'seq gap';
}
