import type { MessageEnd } from '@sluice/journal';
import { joinedReason, logJournalFailure } from '@sluice/journal/internal';
import type { InboundUpdate, UpdateEnd } from '@sluice/sdk/channel';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import type { FencedParts, HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { reportUpdate } from '../timeline/report-update.js';
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

/**
 * Ends an update that the journal has, with those that joined it, and tells how. Never rejects.
 *
 * @param isEnded the journal has the end already.
 * @returns `blocked` if hosts share the journal and it could not write the end: until it has, its session is not free (durability §12.8),
 *   and the next of its conversation would wait for that for ever.
 */
export async function endUpdate(
  parts: FencedParts,
  received: EndingUpdate,
  end: MessageEnd,
  isEnded = false,
): Promise<Worked> {
  const { eventId, account, update, joined } = received;
  const { journal, fence, counts, backlog, deferredEnds, logger } = parts;
  const { status, reason } = end;
  // the host had no time for it, or lost it: it has not ended
  const isLost = fence.signal.aborted || (status === 'aborted' && parts.signal.aborted);
  const isDeferred = isLost && !isEnded;
  if (fence.signal.aborted) backlog.begun.delete(eventId);
  const isDead = status === 'failed' || status === 'undecodable';
  if (!isDeferred) {
    if (isDead && journal.acknowledge === 'persisted') counts.deadLetters++;
    backlog.begun.delete(eventId);
    if (journal.acknowledge === 'ended') await acknowledge(parts, account, update);
    const why = reason === undefined ? {} : { reason: oneLine(reason) };
    try {
      if (!isEnded)
        await journal.endUpdate({ ...fence, eventId }, { isDead, outcome: status, ...why });
      parts.questions.settled(eventId);
      await parts.approvals.settled(eventId);
    } catch (error) {
      logJournalFailure(logger, 'the end of an update was not persisted', { eventId, error });
      deferredEnds.add(eventId); // its sends are persisted: they are not sent again
      for (const one of joined ?? []) deferredEnds.add(one.eventId);
    }
  }
  const isOpen = isDeferred || deferredEnds.has(eventId);
  reportUpdate(parts, eventId, isOpen ? 'left' : isDead ? 'dead' : 'ended', {
    ...end,
    outcome: status,
    reason: reason === undefined ? undefined : oneLine(reason),
  });
  reportMessageEnd(parts, end);
  if (joined !== undefined && !isDeferred && !deferredEnds.has(eventId))
    await Promise.all([...joined].map((one) => endJoined(parts, one, end)));
  return isOpen && !isDeferred && journal.ownership.partitionCount > 1 && !fence.signal.aborted
    ? 'blocked'
    : 'done';
}

/** Ends an update as the one that it joined has ended; if that was no turn, it is handled on its own. */
async function endJoined(
  parts: FencedParts,
  received: ReceivedUpdate,
  leader: MessageEnd,
): Promise<void> {
  const { eventId } = received;
  if (!isEndOfAll(leader.status)) {
    parts.batches?.forget(eventId);
    return;
  }
  const { status, correlationId = '' } = leader;
  const how = { isDead: status === 'failed', to: correlationId };
  parts.counts.joined++;
  await endAsJoined(parts, received, how, leader);
}

/** Ends an update that joined another. Never rejects. @param how.isDead that one is a dead letter. */
export async function endAsJoined(
  parts: FencedParts,
  received: EndingUpdate,
  { isDead, to }: { readonly isDead: boolean; readonly to: string },
  named: Partial<Pick<MessageEnd, 'agentId' | 'sessionKey'>> = {},
): Promise<void> {
  const { journal, fence, counts, deferredEnds, logger } = parts;
  const { eventId, account, update } = received;
  const reason = joinedReason(to);
  if (isDead && journal.acknowledge === 'persisted') counts.deadLetters++;
  if (journal.acknowledge === 'ended') await acknowledge(parts, account, update);
  try {
    await journal.endUpdate({ ...fence, eventId }, { isDead, outcome: 'joined', reason });
  } catch (error) {
    logJournalFailure(logger, 'the end of an update was not persisted', { eventId, error });
    deferredEnds.add(eventId); // it ends when it is claimed
  }
  const { agentId, sessionKey } = named;
  const state = deferredEnds.has(eventId) ? 'left' : isDead ? 'dead' : 'ended';
  const about = { ...namesOf(received), ...definedFields({ agentId, sessionKey }), reason };
  reportUpdate(parts, eventId, state, { ...about, outcome: 'joined', joinedTo: to });
  reportMessageEnd(parts, { ...about, status: 'joined', correlationId: eventId, sends: [] });
}

/** Tells the provider that an update need not come again. Never rejects. */
export async function acknowledge(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  const { accountId } = account;
  // a reload may have put another channel in its place while the update was handled
  const { channel } = parts.accounts.find(account.channel.id, accountId) ?? account;
  try {
    await channel.ack?.(accountId, update);
  } catch (error) {
    parts.logger.warn('an update was not acknowledged', { channel: channel.id, error });
  }
}

/** Tells the maker of the host how a message ended. Never throws. @param level of its line in the log. */
export function reportMessageEnd(
  parts: HostParts,
  end: MessageEnd,
  level: 'info' | 'debug' = 'info',
): void {
  const { status, channel, accountId, agentId, sessionKey, reason, correlationId } = end;
  const about = { channel, accountId, eventId: correlationId, agentId, sessionKey, detail: reason };
  parts.logger[level](`a message has ended: ${status}`, definedFields(about));
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
