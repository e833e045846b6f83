import type { PayloadOf } from 'sluice-kernel';
import { type FieldTable, same } from './field-table.js';

type Message = PayloadOf<'ingress.normalized'>;
type Sender = NonNullable<Message['sender']>;

const ofSender = (part: keyof Sender) => ({
  to: `sender.${part}`,
  show: ({ sender }: Pick<Message, 'sender'>) => sender?.[part],
});

/** The names under which the legacy buses tell of a message, beside its text, in its metadata. */
export const messageFields = {
  ...same('to', 'provider', 'surface', 'threadId', 'guildId', 'channelName'),
  senderId: ofSender('id'),
  senderName: ofSender('name'),
  senderUsername: ofSender('username'),
  senderE164: ofSender('e164'),
} satisfies FieldTable<Record<string, unknown>, Message>;

/** A message that went out, of which the legacy buses do not say what it was. */
export const sentFields = {
  kind: 'reply' as const,
  streaming: false,
  attachments: [],
  metadata: {},
};
