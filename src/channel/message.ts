import type { PayloadOf } from '../kernel/index.js';

/** A message that came in, decoded: the payload of `ingress.normalized`. */
export type InboundMessage = PayloadOf<'ingress.normalized'>;

/** What somebody used that is no message, decoded: the payload of `interaction.received`. */
export type Interaction = PayloadOf<'interaction.received'>;

/** Who answers a message and in which session, where its source says so itself. */
export type ExplicitRoute = NonNullable<PayloadOf<'routing.resolving'>['explicitRoute']>;

/** What a channel says of a delivery: ids and time. */
export type DeliveryReceipt = PayloadOf<'egress.sent'>['receipt'];

/**
 * What may be sent, and where to: the payload of a passed `egress.preparing`, with the channel and account that
 * the stage selected. Frozen.
 */
export type ApprovedMessage = Readonly<
  Omit<PayloadOf<'egress.preparing'>, 'explicit' | 'accounts' | 'channel' | 'accountId'> & {
    readonly channel: string;
    readonly accountId: string;
  }
>;
