import type { MessageEnd, UpdateRecord } from '@sluice/journal';
import type { InboundUpdate } from '@sluice/sdk/channel';
import { definedFields } from 'sluice-kernel/internal';
import type { Decoded } from '../jobs/job.js';
import type { RunningAccount } from '../provided/accounts.js';

/** An update that the host has received. */
export interface ReceivedUpdate {
  /** The id under which the journal has it. */
  readonly eventId: string;
  readonly account: RunningAccount;
  /** The update as its channel gave it. */
  readonly update: InboundUpdate;
  /** The time of its receipt, in milliseconds since 1970. */
  readonly receivedAtMs: number;
  readonly decoded: Decoded;
  /** The number of this attempt, from 1 up. */
  readonly attempt?: number;
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

/** `blocked`: it waits in the journal. What comes after it in its conversation waits, too. */
export type Worked = 'done' | 'blocked';

/** An update as its channel gave it. */
export function updateOf({ updateId, receivedAtMs, body }: UpdateRecord): InboundUpdate {
  return {
    raw: body === undefined ? undefined : JSON.parse(body),
    receivedAtMs,
    ...definedFields({ updateId }),
  };
}
