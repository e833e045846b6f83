import type { Infer } from '../../schema/schema.js';
import * as f from './field.js';

/** The address that the host sends a message to. */
export const delivery = f.object({
  channel: f.text('The channel to send by.'),
  accountId: f.text("The channel's account to send as."),
  to: f.optional(f.text('The address, where it is another than the payload says.')),
  threadId: f.optional(f.providerId('The thread, where it is another than the payload says.')),
});
export interface Delivery extends Infer<typeof delivery> {}

/** The receipt of a channel for a delivery. */
export const receipt = f.object(
  {
    messageId: f.optional(f.text('The id that the provider gave it.')),
    messageIds: f.optional(f.texts('The ids of its parts, where it was sent in several.')),
    conversationId: f.optional(f.text('The chat, channel or room that it arrived in.')),
    recipientId: f.optional(f.text('The address that the provider resolved.')),
    pollId: f.optional(f.text('The poll that it made.')),
    sentAtMs: f.optional(f.amount('When it was sent, in milliseconds since 1970.')),
    meta: f.optional(f.openRecord('What the provider says beyond these fields.')),
  },
  'What the channel says of the delivery.',
);
export interface DeliveryReceipt extends Infer<typeof receipt> {}
