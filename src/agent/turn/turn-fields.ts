import type { TranscriptEntry } from '@sluice/sdk/stream';
import type { Stop } from '@sluice/sdk/stream/internal';
import { type Clock, definedFields, type Logger, type StopSignal } from 'sluice-kernel/internal';
import type { RunDispatcher, RunFields, Trail } from '../run/index.js';
import type { AgentTurnOptions } from './turn-options.js';

/** The parts that the attempts of a turn share. */
export interface TurnScope {
  readonly options: AgentTurnOptions;
  readonly trail: Trail;
  readonly fields: RunFields;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the turn. */
  readonly signal: Stop;
  /** Aborted when the turn may not wait any longer for what was stopped. */
  readonly cut: StopSignal;
  /** Milliseconds between the two signals. */
  readonly graceMs: number;
  /** The texts that providers keep with the session, by their ids. */
  readonly kept: Map<string, string>;
  /** The text that tells an agent what stands around the message. */
  readonly surroundings: string | undefined;
}

/** The parts that the steps of an attempt share before its provider is called. */
export interface AttemptScope extends TurnScope {
  readonly run: RunDispatcher;
  /** From 1. */
  readonly attempt: number;
  /** The messages about the prompt from before this attempt; absent if it is asked for the first time. */
  readonly begun: readonly TranscriptEntry[] | undefined;
}

/** The run of a turn, as its payloads name it. */
export function turnFields(options: AgentTurnOptions): RunFields {
  const { session, message, runId, trigger = 'user', workspaceDir } = options;
  const { agentId, sessionKey, sessionId } = session;
  return Object.freeze({
    agentId,
    sessionKey,
    sessionId,
    runId,
    trigger,
    ...definedFields({ workspaceDir, channel: message.channel, messageProvider: message.provider }),
  });
}

/** How many of the files are images. */
export function imagesIn(attachments: readonly { readonly kind: string }[] = []): number {
  return attachments.filter(({ kind }) => kind === 'image').length;
}
