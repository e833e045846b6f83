import type { Chat, Message, MessageOrigin } from 'grammy/types';
import type { InboundMessage } from 'sluice/channel';
import { conversationIdOf } from '../address.js';
import { attachmentsOf, type Content } from './attachments.js';
import { linkedTextOf } from './mention.js';
import { personOf, senderOf } from './sender.js';

type Around = Pick<InboundMessage, 'replyTo' | 'forwardedFrom' | 'shared'>;

/** The fields of a message that tell what stands around it: what it answers, where it comes from, what it shares. */
export function aroundOf(message: Message): Around {
  const { forward_origin: origin } = message;
  const shared = sharedIn(message);
  return {
    ...repliedOf(message),
    ...(origin !== undefined && { forwardedFrom: originOf(origin) }),
    ...(shared !== undefined && { shared: [shared] }),
  };
}

function repliedOf(message: Message): Around {
  const { reply_to_message: replied, external_reply: external, reply_to_story: story } = message;
  const { quote } = message;
  // every message of a topic answers the one that made it: that is no reply
  if (replied !== undefined && replied.forum_topic_created === undefined) {
    const { message_id: messageId, chat, date } = replied;
    const sender = senderOf(replied);
    const from = `telegram:${sender.id ?? chat.id}`;
    const said = saidIn(replied, quote?.text);
    return { replyTo: { messageId, from, sender, ...said, sentAtMs: date * 1_000 } };
  }
  if (external !== undefined) {
    const said = saidIn(external as Content, quote?.text); // its media have the fields of a message
    return { replyTo: { ...originOf(external.origin), ...said } };
  }
  if (story === undefined) return {};
  const sender = senderOf({ sender_chat: story.chat });
  return { replyTo: { messageId: story.id, sender, content: '(a story)' } };
}

/** The words and the files of a message that is answered. */
function saidIn(replied: Content, quote?: string) {
  const { title, text } = sharedIn(replied) ?? {};
  const content = quote ?? (linkedTextOf(replied) || [title, text].filter(Boolean).join('\n'));
  const attachments = attachmentsOf(replied);
  return {
    ...(content !== '' && { content }),
    ...(quote !== undefined && { isQuote: true }),
    ...(attachments.length > 0 && { attachments }),
  };
}

/** Reads an origin by its fields: one of a kind that comes later has a date at least. */
function originOf(origin: MessageOrigin): NonNullable<Around['forwardedFrom']> {
  const chat: Chat | undefined =
    'chat' in origin ? origin.chat : 'sender_chat' in origin ? origin.sender_chat : undefined;
  const signature = 'author_signature' in origin ? origin.author_signature : undefined;
  const name = 'sender_user_name' in origin ? origin.sender_user_name : signature;
  const sender = 'sender_user' in origin ? personOf(origin.sender_user) : name && { name };
  return {
    ...(sender && { sender }),
    ...(chat?.title !== undefined && { channelName: chat.title }),
    ...(chat !== undefined && { conversationId: conversationIdOf(chat.id) }),
    ...('message_id' in origin && { messageId: origin.message_id }),
    sentAtMs: origin.date * 1_000,
  };
}

/** The thing that a message shares, if that is neither text nor file. */
function sharedIn(message: Content): NonNullable<Around['shared']>[number] | undefined {
  const { contact, venue, location = venue?.location, poll, story } = message;
  const lines = (...all: readonly (string | undefined)[]) => all.filter(Boolean).join('\n');
  if (contact !== undefined) {
    const { first_name: first, last_name: last, phone_number: text } = contact;
    return { kind: 'contact', title: [first, last].filter(Boolean).join(' '), text };
  }
  if (location !== undefined) {
    const at = `latitude ${location.latitude}, longitude ${location.longitude}`;
    const title = venue && { title: venue.title };
    return { kind: 'location', ...title, text: lines(venue?.address, at) };
  }
  if (poll !== undefined) {
    const text = lines(...poll.options.map((option) => `- ${option.text}`));
    return { kind: 'poll', title: poll.question, text };
  }
  const from = story && senderOf({ sender_chat: story.chat }).name;
  return story && { kind: 'story', ...(from !== undefined && { title: from }) };
}
