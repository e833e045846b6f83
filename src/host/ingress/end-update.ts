import type { Journal, MessageEnd } from '@sluice/journal';
import { joinedReason, logJournalFailure, mayPass } from '@sluice/journal/internal';
import type { InboundUpdate, UpdateEnd } from '@sluice/sdk/channel';
import { definedFields, isSluiceError, oneLine } from 'sluice-kernel/internal';
import type { FencedParts, HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { reportUpdate } from '../timeline/report-update.js';
import { untilKept } from './begin-update.js';
import { namesOf, type ReceivedUpdate, type Worked } from './received-update.js';

/** An update as its end needs it. */
type EndingUpdate = Pick<ReceivedUpdate, 'eventId' | 'account' | 'update' | 'joined'>;

/** The ends of a message that no turn and no veto of a turn has made: they are no ends of the messages that joined it. */
const ownEnds: readonly MessageEnd['status'][] = [
  ...(['ignored', 'undecodable', 'command', 'interaction', 'answer', 'job'] as const),
];

/** Returns whether an end is that of the messages that joined, too (durability §10.7). */
export function isEndOfAll(status: MessageEnd['status']): boolean {
  return !ownEnds.includes(status);
}

/** How an update ends that is not the only one of its end. */
interface Ending {
  /** The journal has the end already. */
  readonly isEnded?: boolean;
  /** By default the end says it. */
  readonly isDead?: boolean;
  /** The update that it joined. */
  readonly joinedTo?: string;
}

/**
 * Ends an update that the journal has, with those that joined it, and tells how. Its lane waits until the journal has the end, and
 * nobody is told before (durability §6.6). Never rejects.
 *
 * @returns `blocked` if the journal has no end, and the update is left to the next reading of it, or to the next host.
 */
export async function endUpdate(
  parts: FencedParts,
  received: EndingUpdate,
  end: MessageEnd,
  how: Ending = {},
): Promise<Worked> {
  const { eventId, account, update, joined } = received;
  const { journal, fence, counts, backlog, room } = parts;
  const { status, channel, accountId, agentId, sessionKey } = end;
  const { isEnded = false, joinedTo } = how;
  const { isDead = status === 'failed' || status === 'undecodable' } = how;
  const reason = end.reason === undefined ? undefined : oneLine(end.reason);
  // the host had no time for it, or lost it: it has not ended
  const isLost = fence.signal.aborted || (status === 'aborted' && parts.signal.aborted);
  const isDeferred = isLost && !isEnded;
  if (!isDeferred || fence.signal.aborted) backlog.begun.delete(eventId);
  let kept: Kept = isEnded ? 'kept' : 'open';
  if (!isDeferred) {
    const told = acknowledge(parts, account, update, 'ended');
    if (told !== undefined) await told;
    const persisted = { isDead, outcome: status, ...(reason !== undefined && { reason }) };
    try {
      if (!isEnded) await journal.endUpdate({ ...fence, eventId }, persisted);
      kept = 'kept';
    } catch (error) {
      kept = await keepEnd(parts, eventId, persisted, error);
    }
  }
  const isOpen = kept !== 'kept';
  if (kept !== 'open') backlog.suspended.delete(eventId);
  if (!isOpen) {
    room.leave(eventId);
    if (isDead && backlog.mayDefer) counts.deadLetters++;
    parts.questions.settled(eventId);
    if (parts.approvals.of(eventId).length > 0) await parts.approvals.settled(eventId);
  }
  reportUpdate(parts, eventId, isOpen ? 'left' : isDead ? 'dead' : 'ended', {
    ...{ channel, accountId, agentId, sessionKey, outcome: status, reason, joinedTo },
  });
  if (kept !== 'open' || (isDeferred && !fence.signal.aborted)) reportMessageEnd(parts, end);
  if (isOpen) return isDeferred ? 'done' : 'blocked';
  if (joined === undefined || !isEndOfAll(status)) return 'done'; // they are handled on their own
  const leader = { isDead: status === 'failed', to: eventId };
  const all = await Promise.all([...joined].map((one) => endAsJoined(parts, one, leader, end)));
  counts.joined += all.length;
  return all.includes('blocked') ? 'blocked' : 'done';
}

/** Ends an update that joined another. Never rejects. @param leader.isDead that one is a dead letter. @returns as `endUpdate`. */
export function endAsJoined(
  parts: FencedParts,
  received: EndingUpdate,
  { isDead, to }: { readonly isDead: boolean; readonly to: string },
  { agentId, sessionKey }: Partial<Pick<MessageEnd, 'agentId' | 'sessionKey'>> = {},
): Promise<Worked> {
  const about = { ...namesOf(received), ...definedFields({ agentId, sessionKey }) };
  const end = { ...about, status: 'joined', reason: joinedReason(to), sends: [] } as const;
  const { eventId: correlationId } = received;
  return endUpdate(parts, received, { ...end, correlationId }, { isDead, joinedTo: to });
}

/** `refused`: for good. `open`: the update is left to the next reading of the journal, or to the next host. */
type Kept = 'kept' | 'refused' | 'open';

/** Keeps the end of an update whose first write has failed. Never rejects. */
async function keepEnd(
  parts: FencedParts,
  eventId: string,
  end: Parameters<HostParts['journal']['endUpdate']>[1],
  failure: unknown,
): Promise<Kept> {
  const { journal, fence, logger } = parts;
  try {
    await untilKept(parts, eventId, failure, () => journal.endUpdate({ ...fence, eventId }, end));
    return 'kept';
  } catch (error) {
    if (mayPass(failure) && isSluiceError(error, 'journal-state')) return 'kept'; // by a try before that had no answer
    logJournalFailure(logger, 'the end of an update was not persisted', { eventId, error });
    return mayPass(error) ? 'open' : 'refused';
  }
}

/**
 * Tells the provider that an update need not come again, if its journal says so at this moment (durability §6.8). Never rejects.
 *
 * @param when absent if it is to be told in any case.
 * @returns nothing if there is nobody to tell.
 */
export function acknowledge(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
  when?: Journal['acknowledge'],
): Promise<void> | undefined {
  if (when !== undefined && when !== parts.journal.acknowledge) return undefined;
  const { accountId } = account;
  // a reload may have put another channel in its place while the update was handled
  const { channel } = parts.accounts.find(account.channel.id, accountId) ?? account;
  if (channel.ack === undefined) return undefined;
  return (async () => channel.ack?.(accountId, update))().catch((error: unknown) =>
    parts.logger.warn('an update was not acknowledged', { channel: channel.id, error }),
  );
}

/** Tells the maker of the host how a message ended. Never throws. */
export function reportMessageEnd(parts: HostParts, end: MessageEnd): void {
  const { status, channel, accountId, agentId, sessionKey, reason, correlationId } = end;
  const about = { channel, accountId, eventId: correlationId, agentId, sessionKey, detail: reason };
  parts.logger.info(`a message has ended: ${status}`, definedFields(about));
  try {
    parts.options.onMessageEnd?.(end);
  } catch (error) {
    parts.logger.error('onMessageEnd threw', { error });
  }
  notifyChannel(parts, end);
}

/** Tells a channel that one of its updates has ended. Never throws. */
export function notifyChannel(
  parts: HostParts,
  end: UpdateEnd & Pick<MessageEnd, 'channel' | 'accountId'>,
): void {
  const { channel: id, accountId, status, updateId, reason, cancelCode, correlationId } = end;
  const channel = parts.accounts.find(id, accountId)?.channel;
  try {
    const more = definedFields({ updateId, reason, cancelCode, correlationId });
    channel?.updateEnded?.(accountId, { status, ...more });
  } catch (error) {
    parts.logger.error('updateEnded threw', { channel: id, accountId, error });
  }
}
