import type { StreamPermits } from '../../channel/index.js';
import type { PreparedSend } from '../egress/prepare-send.js';
import type { DeliveryParts } from '../parts/parts.js';

/** Makes the function that keeps, with a send, what a channel notes of its preview. */
export function noteShownOf(
  { outbox }: Pick<DeliveryParts, 'outbox'>,
  outcome: PreparedSend['outcome'],
): StreamPermits['noteShown'] {
  return async (shown) => {
    const unkept = await outbox?.noteShown(outcome, shown);
    if (unkept !== undefined) throw new Error(unkept);
  };
}
