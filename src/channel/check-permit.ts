import type { ChannelInbox } from './channel.js';
import { channelError } from './errors.js';
import type { SendPermit } from './permit.js';

/**
 * Refuses a permit that the host of an account has not made (spec §14.14). A channel calls it before it takes the message.
 *
 * @param inbox the account's; nothing is refused before the account was started.
 * @throws SluiceError `permit-foreign`.
 * @example
 * async send(permit) {
 *   checkPermit(permit, inbox);
 *   const message = permit.take();
 * }
 */
export function checkPermit(
  permit: SendPermit,
  inbox: Pick<ChannelInbox, 'owns'> | undefined,
): void {
  if (inbox?.owns?.(permit) === false)
    throw channelError('permit-foreign', { what: permit.idempotencyKey });
}
