import type { MessageEnd, UpdateRecord } from '@sluice/journal';
import type { InboundUpdate } from '@sluice/sdk/channel';
import { definedFields } from 'sluice-kernel/internal';
import type { Decoded, TakenJob } from '../jobs/job.js';
import type { Blocked } from '../lanes/backlog.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';

/** An update that the host has received. */
export interface ReceivedUpdate extends Omit<TakenJob, 'job'> {
  /** The update as its channel gave it. */
  readonly update: InboundUpdate;
  /** The time of its receipt, in milliseconds since 1970. */
  readonly receivedAtMs: number;
  readonly decoded: Decoded;
  /** The updates that joined it, in order, without those that have ended by themselves (durability §10). */
  readonly joined?: Set<ReceivedUpdate>;
  /** A person has stopped it before it began. */
  readonly isStopped?: boolean;
}

/** An update with the meaning that its channel finds in it. */
export type DecodedUpdate = Pick<ReceivedUpdate, 'account' | 'decoded'>;

/** The names of an update in reports: those of its account, and the id that its channel gave it. */
export function namesOf({
  account: { channel, accountId },
  update: { updateId },
}: Pick<ReceivedUpdate, 'account' | 'update'>): Pick<
  MessageEnd,
  'channel' | 'accountId' | 'updateId'
> {
  return { channel: channel.id, accountId, ...definedFields({ updateId }) };
}

/** `done`, or why it waits in the journal: what comes after it in its conversation waits, too. */
export type Worked = 'done' | Blocked;

/** An update of the journal as its channel gave it, and its account, if that runs. `isWhole`: what it says is known. */
export function updateOf(
  { room, accounts }: HostParts,
  { eventId, channel, accountId, updateId, receivedAtMs, body }: UpdateRecord,
): {
  readonly account: RunningAccount | undefined;
  readonly update: InboundUpdate;
  readonly isWhole: boolean;
} {
  const held = room.heldOf(eventId);
  if (held !== undefined) return { account: held.account, update: held.update, isWhole: true };
  const raw: unknown = body === undefined ? undefined : JSON.parse(body);
  const update = { raw, receivedAtMs, ...definedFields({ updateId }) };
  return { account: accounts.find(channel, accountId), update, isWhole: body !== undefined };
}
