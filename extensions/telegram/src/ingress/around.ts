import type { Chat, Message, MessageOrigin } from 'grammy/types';
import type { InboundMessage } from 'sluice/channel';
import { conversationIdOf } from '../address.js';
import { attachmentsOf, type Content } from './attachments.js';
import { textOf } from './mention.js';
import { personOf, type Sender, senderOf } from './sender.js';

type Shared = NonNullable<InboundMessage['shared']>[number];

/** The fields of a message that tell what stands around it: what it answers, where it comes from, what it shares. */
export function aroundOf(
  message: Message,
): Pick<InboundMessage, 'replyTo' | 'forwardedFrom' | 'shared' | 'via'> {
  const { forward_origin: origin, via_bot: bot } = message;
  const replyTo = repliedOf(message);
  const shared = sharedOf(message);
  return {
    ...(replyTo !== undefined && { replyTo }),
    ...(origin !== undefined && { forwardedFrom: originOf(origin) }),
    ...(shared.length > 0 && { shared }),
    ...(bot !== undefined && { via: `@${bot.username ?? bot.first_name}` }),
  };
}

function repliedOf(message: Message): InboundMessage['replyTo'] {
  const { reply_to_message: replied, external_reply: external, quote } = message;
  // every message of a topic answers the one that made it: that is no reply
  if (replied !== undefined && replied.forum_topic_created === undefined) {
    const sender = senderOf(replied);
    const from = sender.id === undefined ? addressOf(replied.chat) : `telegram:${sender.id}`;
    const { message_id: messageId } = replied;
    return { messageId, from, sender, ...saidIn(replied, quote?.text, replied.date) };
  }
  if (external !== undefined) {
    const { sender = {}, channelName, messageId, sentAtMs } = originOf(external.origin);
    // the fields of its media are those of a message
    const said = saidIn(external as Content, quote?.text);
    const { name = channelName } = sender;
    return {
      ...(messageId !== undefined && { messageId }),
      sender: { ...sender, ...(name !== undefined && { name }) },
      ...said,
      ...(sentAtMs !== undefined && { sentAtMs }),
    };
  }
  const { reply_to_story: story } = message;
  if (story === undefined) return undefined;
  return { messageId: story.id, sender: chatOf(story.chat), content: '(a story)' };
}

function addressOf({ id, type }: Chat): string {
  return type === 'private' ? conversationIdOf(id) : `telegram:group:${id}`;
}

/** The words and the files of a message that is answered. */
function saidIn(replied: Content, quote?: string, sentAtS?: number) {
  const told = sharedOf(replied).map(({ title, text }) => [title, text].filter(Boolean).join(': '));
  const content = quote ?? (textOf(replied) || told.join('\n'));
  const attachments = attachmentsOf(replied);
  return {
    ...(content !== '' && { content }),
    ...(quote !== undefined && { isQuote: true }),
    ...(attachments.length > 0 && { attachments }),
    ...(sentAtS !== undefined && { sentAtMs: sentAtS * 1_000 }),
  };
}

/** Reads an origin by its fields: one of a kind that comes later has a date at least. */
function originOf(origin: MessageOrigin): NonNullable<InboundMessage['forwardedFrom']> {
  const chat =
    'chat' in origin ? origin.chat : 'sender_chat' in origin ? origin.sender_chat : undefined;
  const signature = 'author_signature' in origin ? origin.author_signature : undefined;
  const hidden = 'sender_user_name' in origin ? origin.sender_user_name : signature;
  const sender =
    'sender_user' in origin ? personOf(origin.sender_user) : hidden && { name: hidden };
  const { name: channelName } = chat === undefined ? {} : chatOf(chat);
  return {
    ...(sender && { sender }),
    ...(channelName !== undefined && { channelName }),
    ...(chat !== undefined && { conversationId: conversationIdOf(chat.id) }),
    ...('message_id' in origin && { messageId: origin.message_id }),
    sentAtMs: origin.date * 1_000,
  };
}

/** What a message shares that is neither text nor file. */
function sharedOf(message: Content): Shared[] {
  const { contact, venue, location = venue?.location, poll, story, game, checklist } = message;
  const place = location && `latitude ${location.latitude}, longitude ${location.longitude}`;
  const found: [Shared['kind'], string | undefined, (string | undefined)[]][] = [];
  if (contact) {
    const { first_name: first, last_name: last, phone_number: phone } = contact;
    found.push(['contact', [first, last].filter(Boolean).join(' '), [phone]]);
  }
  if (location) found.push(['location', venue?.title, [venue?.address, place]]);
  if (poll) found.push(['poll', poll.question, poll.options.map(({ text }) => `- ${text}`)]);
  if (story) found.push(['story', chatOf(story.chat).name, []]);
  if (game) found.push(['other', game.title, [game.description]]);
  if (checklist)
    found.push(['other', checklist.title, checklist.tasks.map(({ text }) => `- ${text}`)]);
  return found.map(([kind, title, lines]) => {
    const text = lines.filter(Boolean).join('\n');
    return { kind, ...(title !== undefined && { title }), ...(text !== '' && { text }) };
  });
}

function chatOf(chat: Chat): Sender {
  return senderOf({ sender_chat: chat });
}
