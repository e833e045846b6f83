import type { MessageEnd, UpdateRecord } from '@sluice/journal';
import type { InboundUpdate } from '@sluice/sdk/channel';
import { definedFields } from 'sluice-kernel/internal';
import type { Decoded, TakenJob } from '../jobs/job.js';

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
