import type { Message } from 'grammy/types';
import { conversationIdOf } from '../address.js';

/** The place that a message was written in. */
export interface Place {
  readonly isGroup: boolean;
  readonly conversationId: string;
  /** The address of who wrote, as the legacy system has it. */
  readonly from: string;
  /** The topic of a forum, 1 for its General one; or that of a private chat. */
  readonly threadId?: number;
  readonly title?: string;
}

/** The topic of a forum that carries no id in its messages. */
export const generalTopic = 1;

/** Finds the place that a message was written in. Threads of ordinary groups are threads of replies, and no place. */
export function placeOf(message: Message): Place {
  const { chat, message_thread_id: threadId } = message;
  const conversationId = conversationIdOf(chat.id);
  if (chat.type === 'private') {
    return {
      isGroup: false,
      conversationId,
      from: conversationId,
      ...(threadId !== undefined && { threadId }),
    };
  }
  const topicId =
    'is_forum' in chat && chat.is_forum === true ? (threadId ?? generalTopic) : undefined;
  const from = `telegram:group:${chat.id}`;
  return {
    isGroup: true,
    conversationId,
    from: topicId === undefined ? from : `${from}:topic:${topicId}`,
    ...(topicId !== undefined && { threadId: topicId }),
    ...(chat.title !== undefined && { title: chat.title }),
  };
}
