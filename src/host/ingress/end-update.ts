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

/**
 * Ends an update that the journal has, with those that joined it, and tells how. Its lane waits until the journal has the end, and
 * nobody is told before (durability §6.6). Never rejects.
 *
 * @param isEnded the journal has the end already.
 * @returns `blocked` if the journal has no end, and the update is left to the next reading of it, or to the next host.
 */
export async function endUpdate(
  parts: FencedParts,
  received: EndingUpdate,
  end: MessageEnd,
  isEnded = false,
): Promise<Worked> {
  const { eventId, account, update, joined } = received;
  const { journal, fence, counts, backlog, room } = parts;
  const { status, reason, channel, accountId, agentId, sessionKey } = end;
  // the host had no time for it, or lost it: it has not ended
  const isLost = fence.signal.aborted || (status === 'aborted' && parts.signal.aborted);
  const isDeferred = isLost && !isEnded;
  if (fence.signal.aborted) backlog.begun.delete(eventId);
  const isDead = status === 'failed' || status === 'undecodable';
  let kept: Kept = isEnded ? 'kept' : 'open';
  if (!isDeferred) {
    backlog.begun.delete(eventId);
    const told = acknowledge(parts, account, update, 'ended');
    if (told !== undefined) await told;
    const why = reason === undefined ? {} : { reason: oneLine(reason) };
    const persisted = { isDead, outcome: status, ...why };
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
    ...{ channel, accountId, agentId, sessionKey, outcome: status },
    reason: reason === undefined ? undefined : oneLine(reason),
  });
  if (kept !== 'open' || (isDeferred && !fence.signal.aborted)) reportMessageEnd(parts, end);
  if (isOpen) return isDeferred ? 'done' : 'blocked';
  if (joined === undefined || !isEndOfAll(status)) return 'done'; // they are handled on their own
  const how = { isDead: status === 'failed', to: eventId };
  const all = await Promise.all([...joined].map((one) => endAsJoined(parts, one, how, end)));
  counts.joined += all.length;
  return all.includes('blocked') ? 'blocked' : 'done';
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

/** Ends an update that joined another. Never rejects. @param how.isDead that one is a dead letter. @returns as `endUpdate`. */
export async function endAsJoined(
  parts: FencedParts,
  received: EndingUpdate,
  { isDead, to }: { readonly isDead: boolean; readonly to: string },
  named: Partial<Pick<MessageEnd, 'agentId' | 'sessionKey'>> = {},
): Promise<Worked> {
  const { journal, fence, counts, backlog, room } = parts;
  const { eventId, account, update } = received;
  const reason = joinedReason(to);
  const end = { isDead, outcome: 'joined', reason } as const;
  await acknowledge(parts, account, update, 'ended');
  const kept = await journal.endUpdate({ ...fence, eventId }, end).then(
    () => 'kept' as const,
    (error: unknown) => keepEnd(parts, eventId, end, error), // if not, it ends when it is claimed
  );
  if (kept === 'kept') room.leave(eventId);
  if (kept === 'kept' && isDead && backlog.mayDefer) counts.deadLetters++;
  const { agentId, sessionKey } = named;
  const state = kept !== 'kept' ? 'left' : isDead ? 'dead' : 'ended';
  const about = { ...namesOf(received), ...definedFields({ agentId, sessionKey }), reason };
  reportUpdate(parts, eventId, state, { ...about, outcome: 'joined', joinedTo: to });
  if (kept !== 'open')
    reportMessageEnd(parts, { ...about, status: 'joined', correlationId: eventId, sends: [] });
  return kept === 'kept' ? 'done' : 'blocked';
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
