import type { Static } from 'typebox';
import { object, optional, providerId, text } from './field.js';

/** The fields of a place in a channel: where someone wrote from, or where to deliver. */
export const placeFields = {
  channel: optional(text('The channel, by its registered name.')),
  accountId: optional(text("The channel's account.")),
  to: optional(text('The address within the channel, as its provider writes it.')),
  threadId: optional(providerId('The thread there.')),
};

/** A place in a channel, as a field. */
export const place = (description: string) => object(placeFields, description);
export interface Place extends Static<ReturnType<typeof place>> {}

/** One account of one channel, as the host offers it. */
export const channelAccount = object({
  channel: text('The channel, by its registered name.'),
  accountId: text('One of its accounts.'),
});
export interface ChannelAccount extends Static<typeof channelAccount> {}

/** The contribution, and its extension. */
export const contributionRef = (description: string) =>
  object(
    {
      extensionId: text('The extension.'),
      contributionId: text('The contribution within that extension.'),
    },
    description,
  );
export interface ContributionRef extends Static<ReturnType<typeof contributionRef>> {}
