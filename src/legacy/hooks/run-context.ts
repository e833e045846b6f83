import { definedFields, type Envelope } from '../../kernel/index.js';
import type { Fields } from './row.js';
import type { LegacyAgentContext } from './shapes.js';

/** The facts of a run in its payload. */
interface RunPayload {
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  readonly workspaceDir?: string;
  readonly channel?: string;
  readonly messageProvider?: string;
  readonly trigger?: string;
}

/** The run fields of a payload, of a legacy agent context. */
export function runOf(ctx: LegacyAgentContext) {
  const { agentId, sessionKey, sessionId, workspaceDir, messageProvider, trigger } = ctx;
  const ids = { agentId, sessionKey, sessionId, workspaceDir, messageProvider, trigger };
  return definedFields({ ...ids, channel: ctx.channelId });
}

/** A legacy agent context, of a payload of a run. */
export function agentContextOf(envelope: Envelope): LegacyAgentContext {
  const run = envelope.payload as RunPayload; // a family whose payload has the run fields
  return definedFields({
    agentId: run.agentId ?? envelope.agentId ?? undefined,
    sessionKey: run.sessionKey,
    sessionId: run.sessionId ?? envelope.sessionId ?? undefined,
    workspaceDir: run.workspaceDir,
    messageProvider: run.messageProvider ?? run.channel,
    trigger: run.trigger,
    channelId: run.channel,
  });
}

/** The facts of a run in the envelope of its event. */
export function runRefs({ agentId, sessionId }: Pick<LegacyAgentContext, 'agentId' | 'sessionId'>) {
  return definedFields({ agentId, sessionId });
}

/** An envelope's payload, as the family's row reads it. */
export function payloadOf<P>(envelope: Envelope): P {
  return envelope.payload as P; // the row names the family that it reads
}

/** A copy that a handler may write to. */
export function writable(fields: Fields | undefined): Record<string, unknown> {
  return structuredClone(fields ?? {}) as Record<string, unknown>; // plain data: it comes from a payload
}
