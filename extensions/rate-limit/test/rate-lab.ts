import type { Given, PayloadOf } from 'sluice';
import { samplePayload } from 'sluice/testing';

/** A message that a test lets arrive. Nobody is proven if it has no sender. */
export interface Arriving {
  readonly conversation?: string;
  readonly sender?: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly roles?: readonly string[];
  readonly isOwner?: boolean;
  readonly messageId?: string;
}

/** The payload and the envelope of a message. */
export function arrivalOf(
  arriving: Arriving,
): [Partial<PayloadOf<'routing.resolving'>>, Given<'routing.resolving'>] {
  const { conversation = 'c-1', sender, channel = 'telegram', accountId = 'default' } = arriving;
  const { roles = [], isOwner = false, messageId } = arriving;
  const { message } = samplePayload('routing.resolving');
  const principal =
    sender === undefined ? null : { channel, accountId, senderId: sender, isOwner, roles };
  return [
    {
      message: { ...message, channel, accountId, conversationId: conversation },
      explicitRoute: { agentId: 'main' }, // settled: a message that passes needs no resolver
    },
    { principal, ...(messageId !== undefined && { correlationId: messageId }) },
  ];
}
