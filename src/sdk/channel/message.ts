import type { PayloadOf } from 'sluice-kernel';

/** A message that came in, decoded: the payload of `ingress.normalized`. */
export type InboundMessage = PayloadOf<'ingress.normalized'>;

/** A button, a list or a form that somebody used, decoded: the payload of `interaction.received`. */
export type Interaction = PayloadOf<'interaction.received'>;

/** The buttons, the list and the form of a message (spec §14.16). */
export type Interactive = NonNullable<PayloadOf<'egress.preparing'>['interactive']>;

/** The agent and the session for a message, if its source names them itself. */
export type ExplicitRoute = NonNullable<PayloadOf<'routing.resolving'>['explicitRoute']>;

/** The ids and the time of a delivery, as its channel gives them. */
export type DeliveryReceipt = PayloadOf<'egress.sent'>['receipt'];

/**
 * A message that may be sent, with its address: the payload of a passed `egress.preparing`, with the channel and account
 * that the stage selected. Frozen.
 */
export type ApprovedMessage = Readonly<
  Omit<PayloadOf<'egress.preparing'>, 'explicit' | 'accounts' | 'channel' | 'accountId'> & {
    readonly channel: string;
    readonly accountId: string;
  }
>;

/** The result of a send. A send that throws counts as `ambiguous`, and is not repeated. */
export type SendResult =
  | { readonly status: 'sent'; readonly receipt: DeliveryReceipt }
  /** The provider refused it for good. It was not delivered. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** The provider refused it for now. It was not delivered. */
  | { readonly status: 'retry-after'; readonly retryAfterMs: number; readonly reason?: string }
  /** Nobody knows whether it was delivered: a timeout, a lost connection. */
  | { readonly status: 'ambiguous'; readonly reason: string };
