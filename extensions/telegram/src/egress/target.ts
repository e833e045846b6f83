import type { ApprovedMessage } from 'sluice/channel';
import { parseAddress } from '../address.js';
import { generalTopic } from '../ingress/place.js';

/** The target of a message, as the Bot API takes it. */
export interface Target {
  readonly chat_id: number | string;
  readonly message_thread_id?: number;
}

/** The message that a message answers, as the Bot API takes it. The answer goes out also if that message is gone. */
export interface ReplyParameters {
  readonly reply_parameters?: {
    readonly message_id: number;
    readonly allow_sending_without_reply: true;
  };
}

/** Finds the target of a message; `undefined`, if its address is none. The General topic of a forum is written to without its id. */
export function targetOf({ to, threadId }: ApprovedMessage): Target | undefined {
  const address = parseAddress(to);
  if (address === undefined) return undefined;
  const topicId = threadId === undefined ? address.topicId : Number(threadId);
  const hasTopic =
    topicId !== undefined && Number.isSafeInteger(topicId) && topicId !== generalTopic;
  return { chat_id: address.chatId, ...(hasTopic && { message_thread_id: topicId }) };
}

/** Finds the message that a message answers. A value that is no id of a message is left out. */
export function replyOf({ replyToId }: ApprovedMessage): ReplyParameters {
  const id = Number(replyToId);
  if (replyToId === undefined || !Number.isSafeInteger(id) || id <= 0) return {};
  return { reply_parameters: { message_id: id, allow_sending_without_reply: true } };
}
