import type { Message, Update } from 'grammy/types';
import { conversationIdOf } from '../address.js';
import type { BotIdentity } from './mention.js';

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

/**
 * Finds the place that a message was written in. Telegram gives a thread of replies an id, too, also within the General topic:
 * that is no place, and nobody can write there.
 */
export function placeOf(message: Message, { hasTopics = false }: BotIdentity): Place {
  const { chat, message_thread_id: threadId, is_topic_message: isInTopic = false } = message;
  const conversationId = conversationIdOf(chat.id);
  if (chat.type === 'private') {
    const topic = threadId !== undefined && (isInTopic || hasTopics) && { threadId };
    return { isGroup: false, conversationId, from: conversationId, ...topic };
  }
  const isForum = 'is_forum' in chat && chat.is_forum === true;
  const topicId = isForum ? ((isInTopic ? threadId : undefined) ?? generalTopic) : undefined;
  const from = `telegram:group:${chat.id}`;
  return {
    isGroup: true,
    conversationId,
    from: topicId === undefined ? from : `${from}:topic:${topicId}`,
    ...(topicId !== undefined && { threadId: topicId }),
    ...(chat.title !== undefined && { title: chat.title }),
  };
}

/** Finds the chat that an update came from, as far as it says so: nothing else of the update was looked at. */
export function chatOf(update: Update): number | undefined {
  const { message, channel_post, edited_message, edited_channel_post, callback_query } = update;
  const said = message ?? channel_post ?? edited_message ?? edited_channel_post;
  const { chat }: Partial<Message> = said ?? callback_query?.message ?? {};
  return chat?.id;
}
