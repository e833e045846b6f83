import { definedFields, type Envelope, type PayloadOf } from 'sluice-kernel/internal';
import type { ExtensionMessage } from './send.js';

type Message = PayloadOf<'routing.resolving'>['message'];

/** The place of a message, as `api.send` and `ask` of a question take it. */
export type MessagePlace = Pick<ExtensionMessage, 'channel' | 'accountId' | 'to' | 'threadId'>;

/** The fields of a message that say where it came from. */
export type PlacedMessage = Pick<Message, 'channel' | 'from'> &
  Partial<
    Pick<
      Message,
      'accountId' | 'conversationId' | 'threadId' | 'originatingChannel' | 'originatingTo'
    >
  >;

/** A call of a handler that has a message: of `ingress.normalized`, or of a family with `payload.message`. */
export interface CallWithMessage {
  readonly event: Envelope;
  readonly payload: PlacedMessage | { readonly message: PlacedMessage };
}

/**
 * The place that a message came from: where an answer to it goes.
 *
 * @example
 * await api.send({ ...placeOf(call.payload.message), content: 'Tea is ready.' });
 */
export function placeOf(message: PlacedMessage): MessagePlace {
  const { channel, accountId, conversationId, from, threadId } = message;
  const { originatingChannel: backBy = channel, originatingTo = conversationId ?? from } = message;
  const account = backBy === channel ? accountId : undefined;
  return {
    channel: backBy,
    to: originatingTo,
    ...definedFields({ accountId: account, threadId }),
  };
}
