import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { runsAtOnce } from './decode-update.js';

/** The fate of an update: it is handled, or it is refused and its sender is told, or it is dropped and no one is told. */
export type Fate = 'handled' | 'refused' | 'dropped';

/** The policy for a conversation, or a host, that is full (durability §8.2). */
type Policy = 'park' | 'refuse' | 'drop' | 'wait';

function policyOf({ options, journal }: HostParts, { channel }: RunningAccount): Policy {
  if (options.whenLaneFull !== undefined) return options.whenLaneFull;
  if (channel.capabilities.canWait === true) return 'wait';
  return journal.outlivesHost ? 'park' : 'refuse';
}

/** Says what becomes of an update of a lane, and counts it. Of a crowd that is refused one is told, until there is room again. */
export function fateOf(parts: HostParts, account: RunningAccount, lane: string): Fate {
  const { conversationLanes, counts, logger } = parts;
  const policy = policyOf(parts, account);
  const isKept = policy === 'park' && !runsAtOnce(lane); // what runs at once is never parked
  if (isKept || policy === 'wait' || !conversationLanes.isFull(lane)) return 'handled';
  counts.dropped++;
  if (!conversationLanes.isToTell(lane)) return 'dropped';
  logger.warn('a conversation, or the host, is full: its messages are not taken in', {
    channel: account.channel.id,
    accountId: account.accountId,
    waiting: conversationLanes.jobs,
  });
  return policy === 'drop' ? 'dropped' : 'refused';
}

/** Tells whether an update that cannot begin at once may wait in the journal alone. */
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
