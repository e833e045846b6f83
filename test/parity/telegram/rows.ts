/** One difference between the legacy Telegram channel and this one, and where it may stand. */
export interface TelegramRow {
  readonly name: string;
  readonly why: string;
  /** The fields that differ, in which hook. */
  readonly fields: Readonly<
    Partial<Record<'message_received' | 'message_sending' | 'message_sent', readonly string[]>>
  >;
}

/**
 * Every difference that the comparison accepts. A field that is not here must be equal; a row that explains nothing
 * fails the suite.
 */
export const telegramRows: readonly TelegramRow[] = [
  {
    name: 'one-address',
    why: 'One conversation has one id, `telegram:<chat>`, in and out. The legacy channel has the bare chat id on the way out, so nothing could be matched with what came in.',
    fields: {
      message_sending: ['event.to', 'ctx.conversationId'],
      message_sent: ['event.to', 'ctx.conversationId'],
    },
  },
  {
    name: 'media-is-attached',
    why: 'A message of media alone has no text: what it holds is in its attachments. The legacy channel writes `<media:image>` where the text would be.',
    fields: { message_received: ['event.content'] },
  },
  {
    name: 'chat-title',
    why: 'The title of a group is its name. The legacy channel leaves channelName empty.',
    fields: { message_received: ['event.metadata.channelName'] },
  },
  {
    name: 'source-facts',
    why: 'What else Telegram says: the type of the chat, the language of the sender, the album of a picture.',
    fields: {
      message_received: [
        'event.metadata.chatType',
        'event.metadata.languageCode',
        'event.metadata.mediaGroupId',
      ],
    },
  },
  {
    name: 'thread-names',
    why: 'The bridge gives a thread under the names of the Slack path, too: plugins read them on every channel.',
    fields: {
      message_received: ['event.metadata.threadTs', 'event.metadata.channelId'],
      message_sending: ['event.metadata.threadTs', 'event.metadata.channelId'],
    },
  },
  {
    name: 'account-and-media',
    why: 'The account is in the metadata of each send, as on the other legacy send path; an empty list of media is left out.',
    fields: { message_sending: ['event.metadata.accountId', 'event.metadata.mediaUrls'] },
  },
  {
    name: 'system-markers',
    why: 'What was said is left as it is. The legacy channel rewrites [System] and a leading System: in it; here an extension can, on ingress.normalized.',
    fields: { message_received: ['event.content'] },
  },
];
