import type { ChannelInbox } from './channel.js';
import { channelError } from './errors.js';
import type { SendPermit } from './permit.js';
import type { StreamPermits } from './stream-permits.js';

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
    throw channelError('permit-foreign', { what: permit?.idempotencyKey }); // JavaScript gives anything
}

/**
 * The permits of one streamed reply, each checked as `checkPermit` does: the opening at once, the final when it is asked for.
 *
 * @param inbox the account's; nothing is refused before the account was started.
 * @throws SluiceError `permit-foreign`, here and from `final`.
 * @example
 * createStreamSender: (permits) => new Sender(checkedPermits(permits, inbox)),
 */
export function checkedPermits(
  permits: StreamPermits,
  inbox: Pick<ChannelInbox, 'owns'> | undefined,
): StreamPermits {
  const { opening } = permits;
  checkPermit(opening, inbox);
  return {
    ...permits,
    opening,
    final: () => {
      const permit = permits.final();
      if (permit !== undefined) checkPermit(permit, inbox);
      return permit;
    },
  };
}
