import type { Trail } from './trail.js';
import type { AgentTurnOptions } from './turn-options.js';

/** What every payload of a run says of it. */
export interface RunFields {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly trigger: string;
  readonly workspaceDir?: string;
  readonly channel?: string;
  readonly messageProvider?: string;
}

/** What the steps before a provider is called share. */
export interface TurnScope {
  readonly options: AgentTurnOptions;
  readonly trail: Trail;
  readonly run: RunFields;
  readonly signal: AbortSignal;
}

/** The run of a turn, as its payloads name it. */
export function runFields(options: AgentTurnOptions): RunFields {
  const { session, message, runId, trigger = 'user', workspaceDir } = options;
  const { agentId, sessionKey, sessionId } = session;
  return {
    agentId,
    sessionKey,
    sessionId,
    runId,
    trigger,
    ...(workspaceDir !== undefined && { workspaceDir }),
    ...(message.channel !== undefined && { channel: message.channel }),
    ...(message.provider !== undefined && { messageProvider: message.provider }),
  };
}

/** How many of the files are images. */
export function imagesIn(attachments: readonly { readonly kind: string }[] = []): number {
  return attachments.filter(({ kind }) => kind === 'image').length;
}
