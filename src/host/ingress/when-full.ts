import type { Decoded } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import type { ReceivedUpdate } from './received-update.js';

/** The fate of an update: it is handled, or it is refused and its sender is told, or it is dropped and no one is told. */
export type Fate = 'handled' | 'refused' | 'dropped';

/** Says what becomes of an update of a lane, and counts it. Of a crowd that is refused one is told, until there is room again. */
export function fateOf(parts: HostParts, account: RunningAccount, lane: string): Fate {
  const policy = parts.room.policyOf(account);
  const isRefused = policy === 'refuse' || policy === 'drop';
  return isRefused && parts.room.isFull(lane) ? fateInFull(parts, account, lane) : 'handled';
}

/** Returns whether an update may be refused, so that its sender is told before it was begun. */
export function mayBeRefused(parts: HostParts, account: RunningAccount): boolean {
  return parts.room.policyOf(account) === 'refuse';
}

/** The fate of an update whose conversation, or whose host, is full: each host tells one sender. */
export function fateInFull(parts: HostParts, account: RunningAccount, lane: string): Fate {
  const { room, counts, logger } = parts;
  counts.dropped++;
  if (!room.isToNotify(lane)) return 'dropped';
  logger.warn('a conversation, or the host, is full: its messages are not taken in', {
    channel: account.channel.id,
    accountId: account.accountId,
    waiting: room.size,
  });
  return parts.room.policyOf(account) === 'drop' ? 'dropped' : 'refused';
}

/**
 * The open updates of a conversation from which on a shared journal, which alone knows all of them, takes no more in; nothing if it
 * takes in any number. A job of the host is taken in whatever waits.
 */
export function mostOpenOf(
  parts: HostParts,
  account: RunningAccount,
  { kind }: Pick<Decoded, 'kind'>,
): number | undefined {
  const isBounded = ['refuse', 'drop'].includes(parts.room.policyOf(account));
  const isCounted = isBounded && kind !== 'job' && kind !== 'ignored';
  return parts.journal.ownership.partitionCount > 1 && isCounted
    ? parts.room.rules.laneCapacity
    : undefined;
}

/** Gives an update room that waits, unless it waits in the journal alone. @param isWhole the journal has its body. */
export function enterRoom(
  parts: HostParts,
  { eventId, account, update }: ReceivedUpdate,
  lane: string,
  isWhole: boolean,
): void {
  const isShared = parts.journal.ownership.partitionCount > 1; // it counts them itself, and another host may come to handle them
  const isAlone = isWhole && (isShared || parts.room.policyOf(account) === 'park');
  if (!isAlone) parts.room.enter(eventId, lane, isWhole ? undefined : { account, update });
}

/** Resolves when a channel may bring more. Only one that can wait, or is told to, does: nothing for another one. */
export function roomFor(
  parts: HostParts,
  account: RunningAccount,
  lane: string,
): Promise<void> | undefined {
  return parts.room.policyOf(account) === 'wait' ? parts.room.forLane(lane) : undefined;
}
