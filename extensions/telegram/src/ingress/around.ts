import type { Chat, Message, MessageOrigin } from 'grammy/types';
import type { InboundMessage } from 'sluice/channel';
import { conversationIdOf } from '../address.js';
import { attachmentsOf, type Content } from './attachments.js';
import { textOf } from './mention.js';
import { personOf, senderOf } from './sender.js';

type Around = Pick<InboundMessage, 'replyTo' | 'forwardedFrom' | 'shared' | 'via'>;

/** The fields of a message that tell what stands around it: what it answers, where it comes from, what it shares. */
export function aroundOf(message: Message): Around {
  const { forward_origin: origin, via_bot: bot } = message;
  const shared = sharedOf(message);
  return {
    ...repliedOf(message),
    ...(origin !== undefined && { forwardedFrom: originOf(origin) }),
    ...(shared.length > 0 && { shared }),
    ...(bot !== undefined && { via: `@${bot.username ?? bot.first_name}` }),
  };
}

function repliedOf(message: Message): Around {
  const { reply_to_message: replied, external_reply: external, reply_to_story: story } = message;
  const { quote } = message;
  // every message of a topic answers the one that made it: that is no reply
  if (replied !== undefined && replied.forum_topic_created === undefined) {
    const { message_id: messageId, chat, date } = replied;
    const sender = senderOf(replied);
    const place = chat.type === 'private' ? conversationIdOf(chat.id) : `telegram:group:${chat.id}`;
    const from = sender.id === undefined ? place : `telegram:${sender.id}`;
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
  const told = sharedOf(replied).map(({ title, text }) => [title, text].filter(Boolean).join(': '));
  const content = quote ?? (textOf(replied) || told.join('\n'));
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

/** The things that a message shares, and that are neither text nor file. */
function sharedOf(message: Content): NonNullable<Around['shared']> {
  const { contact, venue, location = venue?.location, poll, story, game, checklist } = message;
  const at = location && `latitude ${location.latitude}, longitude ${location.longitude}`;
  const name = [contact?.first_name, contact?.last_name].filter(Boolean).join(' ');
  const listed = (list: readonly { readonly text: string }[] = []) =>
    list.map(({ text }) => `- ${text}`).join('\n');
  return [
    ...(contact ? [{ kind: 'contact' as const, title: name, text: contact.phone_number }] : []),
    ...(at ? [{ kind: 'location' as const, ...placeOf(at, venue) }] : []),
    ...(poll ? [{ kind: 'poll' as const, title: poll.question, text: listed(poll.options) }] : []),
    ...(story
      ? [{ kind: 'story' as const, title: senderOf({ sender_chat: story.chat }).name ?? '' }]
      : []),
    ...(game ? [{ kind: 'other' as const, title: game.title, text: game.description }] : []),
    ...(checklist
      ? [{ kind: 'other' as const, title: checklist.title, text: listed(checklist.tasks) }]
      : []),
  ];
}

function placeOf(at: string, venue: Content['venue']) {
  return venue ? { title: venue.title, text: `${venue.address}\n${at}` } : { text: at };
}
