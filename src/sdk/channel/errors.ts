import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of permits and streams of a channel. */
export const channelError = errorMaker({
  'permit-forged': {
    message: '"{what}" was called from outside.',
    cause: 'A permit or an approval was made by hand; only a passed outcome mints one.',
    hint: 'Take permits from approveSend(outcome).mintPermit().',
  },
  'permit-used': {
    message: 'The permit of "{what}" has been used already.',
    cause: 'A channel took the message of one permit twice.',
    hint: 'Take the message once, and keep it while you send. A further attempt gets a permit of its own.',
  },
  'permit-unused': {
    message: 'The last permit of "{what}" has not been used yet.',
    cause: 'A further permit was asked for while the one before could still send the message.',
    hint: 'Hand out one permit at a time: two at once could send the message twice.',
  },
  'not-approved': {
    message: '{what} approves no send.',
    cause:
      'The value is no outcome of the kernel that sends, or one of another family, or a handler has dispatched it, or it did not pass.',
    hint: 'Give approveSend a passed outcome of "egress.preparing". One that did not pass says who stopped it.',
  },
  'permit-foreign': {
    message: 'The permit {what} is of another kernel than the one that runs this channel.',
    cause:
      'Something beside the host has made an outcome of its own, and asks the channel to send it.',
    hint: 'Send by the host: host.send(message), or an answer of a command.',
  },
  'no-target': {
    message: 'The message to "{what}" has neither a selected nor a named channel and account.',
    cause: 'No resolver chose an account, and the payload named none.',
    hint: 'Contribute a resolver to "egress.preparing", or name both in the payload.',
  },
  'approved-before': {
    message: 'Outcome "{what}" has approved a send already.',
    cause: 'One outcome was turned into two approvals, which could send one message twice.',
    hint: 'Keep the approval, or dispatch "egress.preparing" again for another send.',
  },
  'not-streaming': {
    message: 'The approval of "{what}" opens no stream.',
    cause:
      'Its "egress.preparing" was not dispatched with streaming: true, so nobody judged that parts would be shown.',
    hint: 'Dispatch "egress.preparing" with streaming: true, and open the stream with that approval.',
  },
  'stream-moved': {
    message: 'The final "{what}" goes elsewhere than its stream.',
    cause:
      'A resolver chose another account, address or thread for the final than for the opening.',
    hint: 'Ask StreamApproval.fits(final) first; abort the sender and send such a final by itself.',
  },
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof channelError> {}
}
