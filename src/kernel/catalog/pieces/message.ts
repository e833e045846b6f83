import type { Infer } from '../../schema/schema.js';
import * as f from './field.js';

/** A file that comes with a message. */
export const attachment = f.object({
  kind: f.oneOf(['image', 'audio', 'video', 'document', 'other'], 'What it is.'),
  id: f.optional(f.text('Its id at the provider.')),
  url: f.optional(f.text('Where it can be fetched.')),
  path: f.optional(f.text('Where it lies on this machine.')),
  name: f.optional(f.text('Its file name.')),
  mimeType: f.optional(f.text('Its media type.')),
  sizeBytes: f.optional(f.count('Its size in bytes.')),
  durationMs: f.optional(f.amount('Its playing time in milliseconds.')),
  caption: f.optional(f.text('The text that belongs to it.')),
  asVoice: f.optional(f.flag('Send it as a voice note.')),
  asAnimation: f.optional(f.flag('Send it as a looping animation.')),
});
export interface Attachment extends Infer<typeof attachment> {}

/** The files of a message, as a field. */
export const attachments = (description: string) => f.list(attachment, description);

/** The writer of a message. */
export const sender = f.object(
  {
    id: f.optional(f.text('The id at the provider.')),
    name: f.optional(f.text('The name shown to people.')),
    username: f.optional(f.text('The handle, without a leading sign.')),
    e164: f.optional(f.text('The phone number in E.164 form.')),
    isBot: f.optional(f.flag('It is a program.')),
    locale: f.optional(
      f.text('The language in which texts of the host are for them, such as `pt-BR`.'),
    ),
  },
  'Who wrote it.',
);
export interface Sender extends Infer<typeof sender> {}

/** Another message, as far as this one tells of it. */
const otherMessage = (description: string) =>
  f.object(
    {
      messageId: f.optional(f.providerId('Its id at the provider.')),
      from: f.optional(f.text('The address of its writer.')),
      sender: f.optional(sender),
      channelName: f.optional(
        f.text('The name of the chat that it comes from, if that is another.'),
      ),
      conversationId: f.optional(f.text('That chat, as the channel names conversations.')),
      content: f.optional(f.text('Its text, or the part that was quoted.')),
      isQuote: f.optional(f.flag('Its content is the part that was quoted.')),
      attachments: f.optional(attachments('Its files.')),
      sentAtMs: f.optional(f.amount('When it was sent, in milliseconds since 1970.')),
    },
    description,
  );

const shared = f.object({
  kind: f.oneOf(
    ['message', 'link', 'file', 'contact', 'location', 'poll', 'story', 'other'],
    'What it is.',
  ),
  title: f.optional(f.text('Its title, or its name.')),
  from: f.optional(f.text('Who wrote it, or where it comes from, as people are shown it.')),
  text: f.optional(f.text('Its text.')),
  url: f.optional(f.text('Where it is.')),
});

/** The fields that tell who wrote a message, and what stands around it. They are data: they prove nobody. */
export const aroundFields = {
  sender: f.optional(sender),
  messageId: f.optional(f.text('Its id at the provider.')),
  replyTo: f.optional(otherMessage('The message that this one answers.')),
  forwardedFrom: f.optional(otherMessage('The message that was passed on.')),
  shared: f.optional(f.list(shared, 'What was shared with it.')),
};

/** The fields of a normalized inbound message. */
export const inboundMessageFields = {
  ...aroundFields,
  channel: f.text('The channel it came by.'),
  accountId: f.optional(f.text("The channel's account that got it.")),
  provider: f.optional(f.text('The provider behind the channel.')),
  surface: f.optional(f.text('The surface it was written on.')),
  originatingChannel: f.optional(
    f.text('The channel an answer goes back by, where it is another.'),
  ),
  originatingTo: f.optional(f.text('The address an answer goes back to.')),
  from: f.text('The address it came from, as the channel writes it.'),
  to: f.optional(f.text('The address it was sent to.')),
  conversationId: f.optional(f.text('The conversation: a chat, a channel, a room.')),
  parentConversationId: f.optional(f.text('The conversation that this one hangs off.')),
  threadId: f.optional(f.providerId('The thread within the conversation.')),
  guildId: f.optional(f.text('The community that the conversation belongs to.')),
  channelName: f.optional(f.text('The name of the conversation, where it has one.')),
  groupId: f.optional(f.text('The group, where it was written in one.')),
  isGroup: f.optional(f.flag('Written in a group.')),
  content: f.text('What was said: the text without anything added around it.'),
  body: f.optional(f.text('The text with sender and time around it, as shown to people.')),
  promptText: f.optional(f.text('The text as a model is to read it, links and media described.')),
  transcript: f.optional(f.text('What is said in its audio.')),
  attachments: attachments('The files that came with it.'),
  sentAtMs: f.optional(f.amount('When it was sent, in milliseconds since 1970.')),
  isEdited: f.optional(f.flag('It replaces an earlier text of the same message.')),
  wasMentioned: f.optional(f.flag('It names the agent.')),
  commandSource: f.optional(f.oneOf(['text', 'native'], 'How a command in it was given.')),
  commandAuthorized: f.optional(f.flag('Its sender may give commands.')),
  sessionKey: f.optional(f.text('The session that its source had in mind.')),
  targetSessionKey: f.optional(f.text('The session that a command in it is about.')),
  metadata: f.openRecord('What the source says beyond these fields.'),
};

/** A normalized inbound message, as it is routed. */
export const inboundMessage = f.object(
  inboundMessageFields,
  'The message, as the ingress stages left it.',
);
export interface InboundMessage extends Infer<typeof inboundMessage> {}

/** A message of a transcript: a role, a content, and whatever else its agent keeps beside them. */
export interface TranscriptMessage {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

/** A message of a transcript, as a field. Open: its agent's format is not the kernel's to know. */
export const transcriptMessage = (description: string) =>
  f.open<TranscriptMessage>(
    {
      role: f.text('Who speaks: user, assistant, toolResult, ...'),
      content: f.optional(f.opaque('What is said: a text, or blocks.')),
    },
    description,
  );
