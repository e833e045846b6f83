import type { Infer } from '../../schema/schema.js';
import * as f from './field.js';

/** The fields of a place in a channel: where someone wrote from, or where to deliver. */
export const placeFields = {
  channel: f.optional(f.text('The channel, by its registered name.')),
  accountId: f.optional(f.text("The channel's account.")),
  to: f.optional(f.text('The address within the channel, as its provider writes it.')),
  threadId: f.optional(f.providerId('The thread there.')),
};

/** A place in a channel, as a field. */
export const place = (description: string) => f.object(placeFields, description);
export interface Place extends Infer<ReturnType<typeof place>> {}

/** One account of one channel, as the host offers it. */
export const channelAccount = f.object({
  channel: f.text('The channel, by its registered name.'),
  accountId: f.text('One of its accounts.'),
});
export interface ChannelAccount extends Infer<typeof channelAccount> {}

/** The contribution, and its extension. */
export const contributionRef = (description: string) =>
  f.object(
    {
      extensionId: f.text('The extension.'),
      contributionId: f.text('The contribution within that extension.'),
    },
    description,
  );
export interface ContributionRef extends Infer<ReturnType<typeof contributionRef>> {}
