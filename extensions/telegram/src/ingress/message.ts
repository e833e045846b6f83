import type { Message } from 'grammy/types';
import type { InboundMessage } from 'sluice/channel';
import { attachmentsOf } from './attachments.js';
import { type BotIdentity, isMentioned, linkedTextOf, textOf } from './mention.js';
import { placeOf } from './place.js';
import { senderOf } from './sender.js';

/** Makes the payload of `ingress.normalized`, field by field as spec/pilots/telegram.md has it. */
export function inboundMessageOf(
  message: Message,
  { accountId, bot }: { readonly accountId: string; readonly bot: BotIdentity },
): InboundMessage {
  const place = placeOf(message);
  const { conversationId } = place;
  const sentAtMs = (message.edit_date ?? message.date) * 1_000;
  return {
    channel: 'telegram',
    accountId,
    provider: 'telegram',
    surface: 'telegram',
    originatingChannel: 'telegram',
    originatingTo: conversationId,
    from: place.from,
    to: conversationId,
    sender: senderOf(message),
    conversationId,
    ...(place.threadId !== undefined && { threadId: place.threadId }),
    messageId: String(message.message_id),
    ...(place.title !== undefined && { channelName: place.title }),
    ...(place.isGroup && { groupId: conversationId }),
    isGroup: place.isGroup,
    content: linkedTextOf(message) || (message.sticker?.emoji ?? ''),
    attachments: attachmentsOf(message),
    ...repliedOf(message),
    sentAtMs,
    ...(message.edit_date !== undefined && { isEdited: true }),
    wasMentioned: isMentioned(message, bot),
    metadata: {
      chatType: message.chat.type,
      ...(message.media_group_id !== undefined && { mediaGroupId: message.media_group_id }),
      ...(message.from?.language_code !== undefined && {
        languageCode: message.from.language_code,
      }),
    },
  };
}

function repliedOf({ reply_to_message: replied, quote }: Message): Pick<InboundMessage, 'replyTo'> {
  // every message of a topic answers the one that made it: that is no reply
  if (replied === undefined || replied.forum_topic_created !== undefined) return {};
  const content = quote?.text ?? textOf(replied);
  return {
    replyTo: {
      messageId: replied.message_id,
      from:
        senderOf(replied).id === undefined
          ? placeOf(replied).from
          : `telegram:${senderOf(replied).id}`,
      ...(content !== '' && { content }),
      sentAtMs: replied.date * 1_000,
    },
  };
}
