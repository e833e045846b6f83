import type { StreamPermits } from '../../channel/index.js';
import type { PreparedSend } from '../egress/prepare-send.js';
import type { SendParts } from '../parts/parts.js';

/** Makes the function that keeps, with a send, what a channel notes of its preview. */
export function noteShownOf(
  { outbox }: SendParts,
  outcome: PreparedSend['outcome'],
): StreamPermits['noteShown'] {
  return async (shown) => {
    const unkept = await outbox.noteShown(outcome, shown);
    if (unkept !== undefined) throw new Error(unkept);
  };
}
