import type { Decoded } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { runsAtOnce } from './decode-update.js';

/** The fate of an update: it is handled, or it is refused and its sender is told, or it is dropped and no one is told. */
export type Fate = 'handled' | 'refused' | 'dropped';

/** Full conversations that are remembered, at most. */
const mostNotified = 10_000;

/** The policy for a conversation, or a host, that is full (durability §8.2). */
type Policy = 'park' | 'refuse' | 'drop' | 'wait';

function policyOf({ options, journal }: HostParts, { channel }: RunningAccount): Policy {
  if (options.lanes.whenFull !== undefined) return options.lanes.whenFull;
  if (channel.capabilities.canWait === true) return 'wait';
  return journal.acknowledge === 'persisted' ? 'park' : 'refuse';
}

/** Says what becomes of an update of a lane, and counts it. Of a crowd that is refused one is told, until there is room again. */
export function fateOf(parts: HostParts, account: RunningAccount, lane: string): Fate {
  const { conversationLanes } = parts;
  const policy = policyOf(parts, account);
  const isPersisted = policy === 'park' && !runsAtOnce(lane); // what runs at once is never parked
  if (isPersisted || policy === 'wait' || !conversationLanes.isFull(lane)) return 'handled';
  return notTakenIn(parts, account, conversationLanes.isToNotify(lane));
}

/** Returns whether an update may be refused, so that its sender is told before it was begun. */
export function mayBeRefused(parts: HostParts, account: RunningAccount, lane: string): boolean {
  const policy = policyOf(parts, account);
  return policy === 'refuse' || (policy === 'park' && runsAtOnce(lane));
}

function notTakenIn(parts: HostParts, account: RunningAccount, isToNotify: boolean): Fate {
  const { conversationLanes, counts, logger } = parts;
  counts.dropped++;
  if (!isToNotify) return 'dropped';
  logger.warn('a conversation, or the host, is full: its messages are not taken in', {
    channel: account.channel.id,
    accountId: account.accountId,
    waiting: conversationLanes.jobs,
  });
  return policyOf(parts, account) === 'drop' ? 'dropped' : 'refused';
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
  const isBounded = ['refuse', 'drop'].includes(policyOf(parts, account));
  const isCounted = isBounded && kind !== 'job' && kind !== 'ignored';
  return parts.journal.ownership.partitionCount > 1 && isCounted
    ? parts.conversationLanes.capacity
    : undefined;
}

/** The fate of an update whose conversation is full in a shared journal. Each host tells one sender, as `fateOf` does. */
export function fateInFull(parts: HostParts, account: RunningAccount, lane: string): Fate {
  const { notifiedFull } = parts.backlog;
  const isToNotify = !notifiedFull.has(lane);
  const [oldest = lane] = notifiedFull;
  if (notifiedFull.size >= mostNotified) notifiedFull.delete(oldest);
  return notTakenIn(parts, account, notifiedFull.add(lane) && isToNotify);
}

/** Notes how many updates of a lane were open when another was taken in. */
export function noteOpen({ backlog, conversationLanes }: HostParts, lane: string, open: number) {
  if (open * 2 <= conversationLanes.capacity) backlog.notifiedFull.delete(lane);
}

/** Returns whether an update that cannot begin at once may wait in the journal alone. */
export function mayPark(parts: HostParts, account: RunningAccount): boolean {
  return policyOf(parts, account) === 'park';
}

/** Resolves when a channel may bring more. Only one that can wait, or is told to, does. */
export async function roomFor(
  parts: HostParts,
  account: RunningAccount,
  lane: string,
): Promise<void> {
  if (policyOf(parts, account) === 'wait') await parts.conversationLanes.room(lane);
}
