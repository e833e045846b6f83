import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { briefly, watchedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';

const accountFields = {
  channel: f.text('The channel, by its registered name.'),
  accountId: f.text("The channel's account."),
  name: f.optional(f.text('The name shown to people.')),
};

const accountStartedPayload = f.object({
  ...accountFields,
  startedAtMs: f.optional(f.amount('When it was ready, in milliseconds since 1970.')),
});
/** The payload of `account.started`. */
export interface AccountStarted extends Readonly<Infer<typeof accountStartedPayload>> {}

const accountStoppedPayload = f.object({
  ...accountFields,
  reason: f.optional(f.text('Why it stopped.')),
  error: f.optional(f.text('What went wrong, where something did.')),
  isLoggedOut: f.optional(f.flag('Its login is gone: it needs a person to come back.')),
  uptimeMs: f.optional(f.amount('How long it ran, in milliseconds.')),
});
/** The payload of `account.stopped`. */
export interface AccountStopped extends Readonly<Infer<typeof accountStoppedPayload>> {}

const accountPairingRequestedPayload = f.object({
  channel: accountFields.channel,
  accountId: f.optional(accountFields.accountId),
  senderId: f.text('The person who wants to be let in.'),
  code: f.text('The code by which an operator lets the person in.'),
  metadata: f.optional(f.openRecord('More about the person, such as a name.')),
});
/** The payload of `account.pairing.requested`. */
export interface AccountPairingRequested
  extends Readonly<Infer<typeof accountPairingRequestedPayload>> {}

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
