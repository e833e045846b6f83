import { type Static, Type } from 'typebox';
import {
  amount,
  count,
  flag,
  object,
  oneOf,
  opaque,
  openRecord,
  optional,
  providerId,
  text,
} from './field.js';

/** A file that comes with a message. */
export const attachment = object({
  kind: oneOf(['image', 'audio', 'video', 'document', 'other'], 'What it is.'),
  id: optional(text('Its id at the provider.')),
  url: optional(text('Where it can be fetched.')),
  path: optional(text('Where it lies on this machine.')),
  name: optional(text('Its file name.')),
  mimeType: optional(text('Its media type.')),
  sizeBytes: optional(count('Its size in bytes.')),
  durationMs: optional(amount('Its playing time in milliseconds.')),
  caption: optional(text('The text that belongs to it.')),
  asVoice: optional(flag('Send it as a voice note.')),
  asAnimation: optional(flag('Send it as a looping animation.')),
});
export interface Attachment extends Static<typeof attachment> {}

/** The files of a message, as a field. */
export const attachments = (description: string) => Type.Array(attachment, { description });

/** The writer of a message. */
export const sender = object(
  {
    id: optional(text('The id at the provider.')),
    name: optional(text('The name shown to people.')),
    username: optional(text('The handle, without a leading sign.')),
    e164: optional(text('The phone number in E.164 form.')),
    isBot: optional(flag('It is a program.')),
  },
  'Who wrote it.',
);
export interface Sender extends Static<typeof sender> {}

/** Another message, as far as this one tells of it. */
const otherMessage = (description: string) =>
  object(
    {
      messageId: optional(providerId('Its id at the provider.')),
      from: optional(text('The address of its writer.')),
      sender: optional(sender),
      channelName: optional(text('The name of the chat that it comes from, if that is another.')),
      conversationId: optional(text('That chat, as the channel names conversations.')),
      content: optional(text('Its text, or the part that was quoted.')),
      isQuote: optional(flag('Its content is the part that was quoted.')),
      attachments: optional(attachments('Its files.')),
      sentAtMs: optional(amount('When it was sent, in milliseconds since 1970.')),
    },
    description,
  );

const shared = object({
  kind: oneOf(
    ['message', 'link', 'file', 'contact', 'location', 'poll', 'story', 'other'],
    'What it is.',
  ),
  title: optional(text('Its title, or its name.')),
  from: optional(text('Who wrote it, or where it comes from, as people are shown it.')),
  text: optional(text('Its text.')),
  url: optional(text('Where it is.')),
});

/** The fields that tell who wrote a message, and what stands around it. They are data: they prove nobody. */
export const aroundFields = {
  sender: optional(sender),
  messageId: optional(text('Its id at the provider.')),
  replyTo: optional(otherMessage('The message that this one answers.')),
  forwardedFrom: optional(otherMessage('The message that was passed on.')),
  shared: optional(Type.Array(shared, { description: 'What was shared with it.' })),
};

/** The fields of a normalized inbound message. */
export const inboundMessageFields = {
  ...aroundFields,
  channel: text('The channel it came by.'),
  accountId: optional(text("The channel's account that got it.")),
  provider: optional(text('The provider behind the channel.')),
  surface: optional(text('The surface it was written on.')),
  originatingChannel: optional(text('The channel an answer goes back by, where it is another.')),
  originatingTo: optional(text('The address an answer goes back to.')),
  from: text('The address it came from, as the channel writes it.'),
  to: optional(text('The address it was sent to.')),
  conversationId: optional(text('The conversation: a chat, a channel, a room.')),
  parentConversationId: optional(text('The conversation that this one hangs off.')),
  threadId: optional(providerId('The thread within the conversation.')),
  guildId: optional(text('The community that the conversation belongs to.')),
  channelName: optional(text('The name of the conversation, where it has one.')),
  groupId: optional(text('The group, where it was written in one.')),
  isGroup: optional(flag('Written in a group.')),
  content: text('What was said: the text without anything added around it.'),
  body: optional(text('The text with sender and time around it, as shown to people.')),
  promptText: optional(text('The text as a model is to read it, links and media described.')),
  transcript: optional(text('What is said in its audio.')),
  attachments: attachments('The files that came with it.'),
  sentAtMs: optional(amount('When it was sent, in milliseconds since 1970.')),
  isEdited: optional(flag('It replaces an earlier text of the same message.')),
  wasMentioned: optional(flag('It names the agent.')),
  commandSource: optional(oneOf(['text', 'native'], 'How a command in it was given.')),
  commandAuthorized: optional(flag('Its sender may give commands.')),
  sessionKey: optional(text('The session that its source had in mind.')),
  targetSessionKey: optional(text('The session that a command in it is about.')),
  metadata: openRecord('What the source says beyond these fields.'),
};

/** A normalized inbound message, as it is routed. */
export const inboundMessage = object(
  inboundMessageFields,
  'The message, as the ingress stages left it.',
);
export interface InboundMessage extends Static<typeof inboundMessage> {}

/** A message of a transcript: a role, a content, and whatever else its agent keeps beside them. */
export interface TranscriptMessage {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

/** A message of a transcript, as a field. Open: its agent's format is not the kernel's to know. */
export const transcriptMessage = (description: string) =>
  Type.Unsafe<TranscriptMessage>(
    Type.Object(
      {
        role: text('Who speaks: user, assistant, toolResult, ...'),
        content: optional(opaque('What is said: a text, or blocks.')),
      },
      { additionalProperties: true, description },
    ),
  );
