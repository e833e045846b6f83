import type { Message, User } from 'grammy/types';
import type { InboundMessage, SenderProof } from 'sluice/channel';

/** The writer, as events tell it. */
type Sender = NonNullable<InboundMessage['sender']>;

/** Finds the writer of a message: a person, or the chat in whose name it was written. */
export function senderOf(message: Pick<Message, 'from' | 'sender_chat'>): Sender {
  const { from, sender_chat: chat } = message;
  if (chat !== undefined) {
    const { title, username, first_name: name = title } = chat;
    return {
      id: String(chat.id),
      ...(name !== undefined && { name }),
      ...(username !== undefined && { username }),
    };
  }
  return from === undefined ? {} : personOf(from);
}

/**
 * Telegram proves a person by his account. It proves nobody for a post of a channel, and for a message in the name of a chat: of an
 * anonymous admin, or of a linked channel.
 */
export function proofOf({ from, sender_chat: chat }: Message): { senderProof?: SenderProof } {
  const isPerson = from !== undefined && from.is_bot !== true && chat === undefined;
  return isPerson ? { senderProof: 'account' } : {};
}

/** A person. */
export function personOf(user: User): Sender {
  const {
    id,
    first_name: first,
    last_name: last,
    username,
    is_bot: isBot,
    language_code: locale,
  } = user;
  return {
    id: String(id),
    name: [first, last].filter((part) => part !== undefined && part !== '').join(' '),
    ...(username !== undefined && { username }),
    ...(isBot && { isBot }),
    ...(locale !== undefined && { locale }),
  };
}
