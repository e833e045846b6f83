import type { SendReport } from '@sluice/sdk/extension';

export type { SendReport };

/**
 * The end of a message. Each message that came in ends once.
 *
 * - `answered`: at least one reply was sent, and none failed. `silent`: there was nothing to say.
 * - `command`: it was a command; its answer is in `sends`.
 * - `interaction`: a button, a list or a form was used; what handlers answered is in `sends`.
 * - `answer`: it answered a question of an extension; no agent saw it.
 * - `joined`: another message's turn answers it; `reason` names that message.
 * - `job`: it was a job of an extension, such as an injection.
 * - `cancelled`: a veto stopped it, or every reply to it. `reason` names the veto.
 * - `aborted`: somebody stopped it, or the host had to stop before it was done.
 * - `failed`: a stage, the agent, the store or a send failed. `undecodable`: it could not be read.
 * - `ignored`: its channel says that it is nothing to answer.
 */
export interface MessageEnd {
  readonly status:
    | 'answered'
    | 'silent'
    | 'command'
    | 'interaction'
    | 'answer'
    | 'joined'
    | 'job'
    | 'cancelled'
    | 'aborted'
    | 'failed'
    | 'undecodable'
    | 'ignored';
  readonly channel: string;
  readonly accountId: string;
  readonly updateId?: string;
  /** The id of the event that began it; every dispatch of the message's timeline carries it. */
  readonly correlationId?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  /** The reason in one line, if it did not end well. */
  readonly reason?: string;
  /** The code of the veto that cancelled it, or a reply to it. */
  readonly cancelCode?: string;
  readonly sends: readonly SendReport[];
}

/** The end that the work of a message comes to. The message and its channel are known elsewhere. */
export type Ending = Pick<
  MessageEnd,
  'status' | 'reason' | 'cancelCode' | 'sends' | 'agentId' | 'sessionKey'
>;

/** An ending that may have come before anything was sent. */
export type EarlyEnding = Omit<Ending, 'sends'> & Partial<Pick<Ending, 'sends'>>;

/** The end of a message that was stopped on its way. */
export const stopped = {
  status: 'aborted',
  reason: 'it was stopped before it was answered',
  sends: [],
} as const satisfies Partial<MessageEnd>;

/** Derives the end of a message from its sends. */
export function endOf(sends: readonly SendReport[]): Pick<MessageEnd, 'status' | 'reason'> {
  const failed = sends.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { status: 'failed', reason: failed.error ?? 'a send failed' };
  if (sends.length === 0) return { status: 'silent' };
  if (sends.some(({ status }) => status === 'sent')) return { status: 'answered' };
  const { code = 'cancelled', extensionId, contributionId } = sends[0]?.cancel ?? {};
  return {
    status: 'cancelled',
    reason: extensionId === undefined ? code : `${extensionId}/${contributionId}: ${code}`,
  };
}

/** The reason of a message that was refused or dropped, since its conversation or the host was full. */
export const fullReason = 'it was not taken in: too many messages wait';

/** The reason of an update that ends because it joined another; it leads to that one. */
export function joinedReason(eventId: string): string {
  return `it joined ${eventId}`;
}
