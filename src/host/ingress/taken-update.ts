import type { InboundUpdate } from '../../channel/index.js';
import type { Decoded } from '../jobs/job.js';
import type { RunningAccount } from '../provided/accounts.js';

/** An update that the host has taken in. */
export interface TakenUpdate {
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
}
