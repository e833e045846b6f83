import type { RunDispatcher, RunFields, Trail } from '../stream/index.js';
import type { AgentTurnOptions } from './turn-options.js';

/** What the steps before a provider is called share. */
export interface TurnScope {
  readonly options: AgentTurnOptions;
  readonly trail: Trail;
  readonly fields: RunFields;
  readonly run: RunDispatcher;
  readonly signal: AbortSignal;
}

/** The run of a turn, as its payloads name it. */
export function turnFields(options: AgentTurnOptions): RunFields {
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
