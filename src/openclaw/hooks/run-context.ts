import type { Envelope, Fields } from 'sluice-kernel/internal';
import { type FieldTable, same } from '../facts/field-table.js';
import type { LegacyAgentContext } from './shapes.js';

/** The facts of a run in its payload. */
export interface RunPayload extends Readonly<Omit<LegacyAgentContext, 'channelId'>> {
  readonly channel?: string;
}

/** A legacy agent context, over a payload of a run. */
export const agentContext: FieldTable<LegacyAgentContext, RunPayload> = {
  ...same('sessionKey', 'workspaceDir', 'trigger'),
  agentId: {
    to: 'agentId',
    show: ({ agentId }, envelope) => agentId ?? envelope?.agentId ?? undefined,
  },
  sessionId: {
    to: 'sessionId',
    show: ({ sessionId }, envelope) => sessionId ?? envelope?.sessionId ?? undefined,
  },
  messageProvider: {
    to: 'messageProvider',
    show: ({ messageProvider, channel }) => messageProvider ?? channel,
  },
  channelId: 'channel',
};

/** An envelope's payload, as the family's row reads it. */
export function payloadOf<P>(envelope: Envelope): P {
  return envelope.payload as P; // the row names the family that it reads
}

/** A copy that a handler may write to. */
export function writable(fields: Fields | undefined): Record<string, unknown> {
  return structuredClone(fields ?? {}) as Record<string, unknown>; // plain data: it comes from a payload
}
