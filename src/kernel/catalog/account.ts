import type { Static } from 'typebox';
import { named } from '../stage/named.js';
import { briefly, watchedStage } from './pieces/canonical-stage.js';
import { amount, flag, object, openRecord, optional, text } from './pieces/field.js';

const accountFields = {
  channel: text('The channel, by its registered name.'),
  accountId: text("The channel's account."),
  name: optional(text('The name shown to people.')),
};

const accountStartedPayload = object({
  ...accountFields,
  startedAtMs: optional(amount('When it was ready, in milliseconds since 1970.')),
});
/** The payload of `account.started`. */
export interface AccountStarted extends Readonly<Static<typeof accountStartedPayload>> {}

const accountStoppedPayload = object({
  ...accountFields,
  reason: optional(text('Why it stopped.')),
  error: optional(text('What went wrong, where something did.')),
  isLoggedOut: optional(flag('Its login is gone: it needs a person to come back.')),
  uptimeMs: optional(amount('How long it ran, in milliseconds.')),
});
/** The payload of `account.stopped`. */
export interface AccountStopped extends Readonly<Static<typeof accountStoppedPayload>> {}

const accountPairingRequestedPayload = object({
  channel: accountFields.channel,
  accountId: optional(accountFields.accountId),
  senderId: text('The person who wants to be let in.'),
  code: text('The code by which an operator lets the person in.'),
  metadata: optional(openRecord('More about the person, such as a name.')),
});
/** The payload of `account.pairing.requested`. */
export interface AccountPairingRequested
  extends Readonly<Static<typeof accountPairingRequestedPayload>> {}

export const accountStages = [
  watchedStage({
    family: 'account.started',
    payload: named<AccountStarted>(accountStartedPayload),
    purpose: 'Tells that an account takes and sends messages.',
    emittedWhen: 'when an account of a channel has started',
  }),
  watchedStage({
    family: 'account.stopped',
    payload: named<AccountStopped>(accountStoppedPayload),
    ...briefly,
    purpose: 'Tells that an account takes and sends no more.',
    emittedWhen: 'when an account of a channel has stopped or could not start',
  }),
  watchedStage({
    family: 'account.pairing.requested',
    payload: named<AccountPairingRequested>(accountPairingRequestedPayload),
    purpose: 'Tells an operator that somebody wants to be let in.',
    emittedWhen: 'when a channel of a plugin has written down a new request to be paired',
  }),
] as const;
