import type { Static } from 'typebox';
import { amount, object, openRecord, optional, providerId, text, texts } from './field.js';

/** The address that the host sends a message to. */
export const delivery = object({
  channel: text('The channel to send by.'),
  accountId: text("The channel's account to send as."),
  to: optional(text('The address, where it is another than the payload says.')),
  threadId: optional(providerId('The thread, where it is another than the payload says.')),
});
export interface Delivery extends Static<typeof delivery> {}

/** The receipt of a channel for a delivery. */
export const receipt = object(
  {
    messageId: optional(text('The id that the provider gave it.')),
    messageIds: optional(texts('The ids of its parts, where it was sent in several.')),
    conversationId: optional(text('The chat, channel or room that it arrived in.')),
    recipientId: optional(text('The address that the provider resolved.')),
    pollId: optional(text('The poll that it made.')),
    sentAtMs: optional(amount('When it was sent, in milliseconds since 1970.')),
    meta: optional(openRecord('What the provider says beyond these fields.')),
  },
  'What the channel says of the delivery.',
);
export interface DeliveryReceipt extends Static<typeof receipt> {}
