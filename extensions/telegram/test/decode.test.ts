import { describe, expect, it } from 'vitest';
import { parseAddress } from '../src/address.js';
import { config } from '../src/config.js';
import { decodeUpdate } from '../src/ingress/decode.js';

const bot = { id: 7, username: 'lima_bot' };
const ada = { id: 42, is_bot: false, first_name: 'Ada', last_name: 'L', username: 'ada_l' };
const direct = { id: 42, type: 'private', first_name: 'Ada' };
const group = { id: -77, type: 'group', title: 'Friends' };
const forum = { id: -1005, type: 'supergroup', title: 'Atlas', is_forum: true };

type Fields = Readonly<Record<string, unknown>>;

const decode = (update: unknown, settings: object = {}) =>
  decodeUpdate(update, { accountId: 'default', bot, config: config.parse(settings) });

const written = (fields: Fields): Fields => ({
  update_id: 1,
  message: { message_id: 5, date: 1_700_000_000, chat: direct, from: ada, text: 'hi', ...fields },
});

const mention = [{ type: 'mention', offset: 0, length: 9 }];

/** The message that an update becomes. */
function messageOf(fields: Fields, settings: object = {}) {
  const decoded = decode(written(fields), settings);
  if (decoded.kind !== 'message') throw new Error(`it is ${JSON.stringify(decoded)}`);
  return decoded.message;
}

describe('a message', () => {
  it('has everything that the legacy system tells of it, and where it was written', () => {
    expect(messageOf({})).toEqual({
      channel: 'telegram',
      accountId: 'default',
      provider: 'telegram',
      surface: 'telegram',
      originatingChannel: 'telegram',
      originatingTo: 'telegram:42',
      from: 'telegram:42',
      to: 'telegram:42',
      sender: { id: '42', name: 'Ada L', username: 'ada_l' },
      conversationId: 'telegram:42',
      messageId: '5',
      isGroup: false,
      content: 'hi',
      attachments: [],
      sentAtMs: 1_700_000_000_000,
      wasMentioned: false,
      commandAuthorized: true,
      metadata: { chatType: 'private' },
    });
  });

  it.each<[string, Fields, Fields]>([
    ['a private topic', { message_thread_id: 3, is_topic_message: true }, { threadId: 3 }],
    [
      'a group',
      { chat: group },
      {
        from: 'telegram:group:-77',
        groupId: 'telegram:-77',
        isGroup: true,
        channelName: 'Friends',
      },
    ],
    [
      'a topic of a forum',
      { chat: forum, message_thread_id: 9, is_topic_message: true },
      { from: 'telegram:group:-1005:topic:9', threadId: 9 },
    ],
    ['the General topic', { chat: forum }, { from: 'telegram:group:-1005:topic:1', threadId: 1 }],
  ])('of %s says so', (_, fields, expected) => {
    expect(messageOf(fields, { requireMention: false })).toMatchObject(expected);
  });

  it.each<[string, Fields, number | undefined, object?]>([
    ['an ordinary group', { chat: group }, undefined],
    ['the General topic', { chat: forum }, 1],
    ['a private chat', {}, undefined],
    ['a private chat of a bot with topics', {}, 12, { hasTopics: true }],
  ])('in the thread of replies of %s is in no thread of its own', (_, fields, expected, more) => {
    const decoded = decodeUpdate(written({ ...fields, message_thread_id: 12 }), {
      accountId: 'default',
      bot: { ...bot, ...more },
      config: config.parse({ requireMention: false }),
    });
    expect(decoded).toMatchObject({ kind: 'message' });
    expect(decoded.kind === 'message' && decoded.message.threadId).toBe(expected);
  });

  it('that answers another says which, and what of it was quoted', () => {
    const replied = { message_id: 3, date: 1_699_999_999, chat: direct, from: { ...ada, id: 43 } };
    expect(messageOf({ reply_to_message: { ...replied, text: 'all of it' } }).replyTo).toEqual({
      messageId: 3,
      from: 'telegram:43',
      sender: { id: '43', name: 'Ada L', username: 'ada_l' },
      content: 'all of it',
      sentAtMs: 1_699_999_999_000,
    });
    const quoted = { reply_to_message: { ...replied, text: 'all of it' }, quote: { text: 'of' } };
    expect(messageOf(quoted).replyTo).toMatchObject({ content: 'of', isQuote: true });
    const topic = { ...replied, forum_topic_created: { name: 'x' } };
    expect(messageOf({ reply_to_message: topic }).replyTo).toBeUndefined();
  });

  it.each<[string, Fields, Fields]>([
    [
      'a photo, in its largest size',
      {
        photo: [
          { file_id: 's', file_unique_id: 's', width: 90, height: 60, file_size: 10 },
          { file_id: 'l', file_unique_id: 'l', width: 900, height: 600, file_size: 99 },
        ],
      },
      { kind: 'image', id: 'l', sizeBytes: 99 },
    ],
    [
      'a document',
      { document: { file_id: 'd', file_name: 'a.pdf', mime_type: 'application/pdf' } },
      { kind: 'document', id: 'd', name: 'a.pdf', mimeType: 'application/pdf' },
    ],
    [
      'a voice note',
      { voice: { file_id: 'v', duration: 3 } },
      { kind: 'audio', asVoice: true, durationMs: 3_000 },
    ],
    ['a round video', { video_note: { file_id: 'n', duration: 2 } }, { kind: 'video', id: 'n' }],
    [
      'an animation, once',
      { animation: { file_id: 'g' }, document: { file_id: 'g' } },
      { kind: 'video', id: 'g', asAnimation: true },
    ],
  ])('with %s has it by its id, and what is written under it', (_, fields, expected) => {
    const message = messageOf({ text: undefined, caption: 'look', ...fields });
    expect(message.content).toBe('look');
    expect(message.attachments).toEqual([
      expect.objectContaining({ caption: 'look', ...expected }),
    ]);
    expect(JSON.stringify(message)).not.toContain('https://');
  });

  it('says where its links go, as Markdown: that is not in the text itself', () => {
    const entities = [
      { type: 'text_link', offset: 4, length: 3, url: 'https://a.example/' },
      { type: 'text_link', offset: 12, length: 3, url: 'https://b.example/' },
    ];
    expect(messageOf({ text: 'see one and two ', entities }).content).toBe(
      'see [one](https://a.example/) and [two](https://b.example/)',
    );
  });

  it('that was edited says so, and is left where the settings say', () => {
    const { message } = written({ edit_date: 1_700_000_100, text: 'anew' }) as { message: Fields };
    const edit = { update_id: 2, edited_message: message };
    expect(decode(edit)).toMatchObject({
      kind: 'message',
      message: { isEdited: true, content: 'anew', sentAtMs: 1_700_000_100_000 },
    });
    expect(decode(edit, { edits: 'ignore' })).toEqual({ kind: 'ignored', reason: 'an edit' });
  });

  it('of a channel is the channel’s', () => {
    const chat = { id: -1009, type: 'channel', title: 'News', username: 'news' };
    const post = { message_id: 8, date: 1, chat, sender_chat: chat, text: 'hi' };
    expect(decode({ update_id: 3, channel_post: post }, { requireMention: false })).toMatchObject({
      message: { sender: { id: '-1009', name: 'News', username: 'news' }, isGroup: true },
    });
  });
});

describe('the sender of an update', () => {
  const open = { requireMention: false };
  const chat = { id: -1009, type: 'channel', title: 'News' };
  const command = { text: '/new', entities: [{ type: 'bot_command', offset: 0, length: 4 }] };
  const press = {
    id: 'p',
    from: ada,
    data: 'x',
    message: { message_id: 5, date: 1, chat: direct },
  };

  it.each<[string, Fields, string | undefined]>([
    ['a person, of a message', written({}), 'account'],
    ['a person, of a command', written(command), 'account'],
    ['a person, of a press', { update_id: 1, callback_query: press }, 'account'],
    ['a person, of a forwarded text', written({ forward_origin: { type: 'user' } }), 'account'],
    [
      'nobody, of a post',
      { update_id: 1, channel_post: { message_id: 8, date: 1, chat, text: 'x' } },
      undefined,
    ],
    ['nobody, of an anonymous admin', written({ chat: group, sender_chat: group }), undefined],
    [
      'nobody, of an anonymous admin’s command',
      written({ ...command, chat: group, sender_chat: group }),
      undefined,
    ],
    ['nobody, of a linked channel', written({ chat: group, sender_chat: chat }), undefined],
  ])('is proven to be %s (judgement §1.5)', (_, update, proof) => {
    const decoded = decode(update, open);
    expect(['message', 'command', 'interaction']).toContain(decoded.kind);
    expect('senderProof' in decoded ? decoded.senderProof : undefined).toBe(proof);
  });
});

describe('who may write', () => {
  const reasonOf = (fields: Fields, settings: object): string => {
    const decoded = decode(written(fields), settings);
    return decoded.kind === 'ignored' ? decoded.reason : decoded.kind;
  };
  const named = { chat: group, text: '@lima_bot hi', entities: mention };

  it.each<[string, Fields, object, string]>([
    ['anyone, where nobody is named', {}, {}, 'message'],
    ['those named by id', {}, { allowFrom: [42] }, 'message'],
    ['those named by name, however it is written', {}, { allowFrom: ['@Ada_L'] }, 'message'],
    ['not others', {}, { allowFrom: [43] }, 'its sender is not allowed'],
    [
      'others, where private messages are open',
      {},
      { allowFrom: [43], dmPolicy: 'open' },
      'message',
    ],
    ['nobody, where they are off', {}, { dmPolicy: 'disabled' }, 'private messages are off'],
    ['who names the bot in a group', named, {}, 'message'],
    ['not who does not', { chat: group }, {}, 'it does not name the bot'],
    ['who need not', { chat: group }, { groups: { '-77': { requireMention: false } } }, 'message'],
    [
      'not in a group that is not named',
      named,
      { groups: { '-78': {} } },
      'its group is not allowed',
    ],
    ['in one that is', named, { groups: { '-77': {} } }, 'message'],
    [
      'only those named there',
      named,
      { groups: { '-77': { allowFrom: [1] } } },
      'its sender is not allowed in this group',
    ],
    ['in no group', named, { groupPolicy: 'disabled' }, 'groups are off'],
    ['not a bot', { from: { ...ada, is_bot: true } }, {}, 'a message of a bot'],
  ])('%s', (_, fields, settings, expected) => {
    expect(reasonOf(fields, settings)).toBe(expected);
  });

  it.each<[string, Fields]>([
    [
      'an answer to it',
      { reply_to_message: { message_id: 1, date: 1, chat: group, from: { id: 7 } } },
    ],
    [
      'a link to it',
      { entities: [{ type: 'text_mention', offset: 0, length: 2, user: { id: 7 } }] },
    ],
    [
      'its name under a picture',
      {
        text: undefined,
        caption: '@lima_bot',
        caption_entities: mention,
        photo: [{ file_id: 'a', width: 1, height: 1 }],
      },
    ],
  ])('names the bot by %s', (_, fields) => {
    expect(messageOf({ chat: group, ...fields })).toMatchObject({ wasMentioned: true });
  });

  it('does not take a longer name for the bot’s', () => {
    const entities = [{ type: 'mention', offset: 0, length: 10 }];
    expect(reasonOf({ chat: group, text: '@lima_bott hi', entities }, {})).toBe(
      'it does not name the bot',
    );
  });
});

describe('a slash command', () => {
  const command = (text: string, more: Fields = {}, settings: object = {}) =>
    decode(
      written({
        text,
        entities: [{ type: 'bot_command', offset: 0, length: (text.split(' ')[0] ?? '').length }],
        ...more,
      }),
      settings,
    );

  it('is one, with its arguments, its sender’s rights and a line for the host', () => {
    expect(command('/new one two')).toMatchObject({
      kind: 'command',
      interaction: { kind: 'command', name: 'new', values: ['one', 'two'], interactionId: '5' },
      message: { content: '/new one two', commandSource: 'native', commandAuthorized: true },
    });
    expect(command('/new', {}, { dmPolicy: 'open', allowFrom: [1] })).toMatchObject({
      message: { commandAuthorized: false },
    });
  });

  it('that Telegram has not marked is a text, and no way around who may give commands', () => {
    const settings = { dmPolicy: 'open', allowFrom: [1] };
    expect(messageOf({ text: ' /new' }, settings)).toMatchObject({
      content: '/new',
      commandAuthorized: false,
    });
  });

  it('may name the bot, and not another; in a group it need not', () => {
    expect(command('/new@Lima_Bot', { chat: group })).toMatchObject({
      message: { content: '/new' },
    });
    expect(command('/new@other_bot')).toEqual({
      kind: 'ignored',
      reason: 'a command for another bot',
    });
    expect(command('/new', { chat: group })).toMatchObject({ kind: 'command' });
  });

  it('/start asks what there is: it is /help', () => {
    expect(command('/start ref')).toMatchObject({
      interaction: { name: 'start' },
      message: { content: '/help ref' },
    });
  });

  it('is none in the middle of a text, nor where it is a number', () => {
    expect(
      messageOf({ text: 'see /new', entities: [{ type: 'bot_command', offset: 4, length: 4 }] })
        .content,
    ).toBe('see /new');
    expect(command('/1')).toMatchObject({ kind: 'message' });
  });
});

describe('a press', () => {
  const press = (fields: Fields, settings: object = {}) =>
    decode(
      {
        update_id: 4,
        callback_query: {
          id: 'q',
          from: ada,
          chat_instance: 'c',
          data: 'yes',
          message: {
            message_id: 9,
            date: 1,
            chat: forum,
            message_thread_id: 2,
            is_topic_message: true,
            from: bot,
          },
          ...fields,
        },
      },
      settings,
    );

  it('is an interaction, where it was and of whom', () => {
    expect(press({})).toEqual({
      kind: 'interaction',
      senderProof: 'account',
      interaction: {
        interactionId: 'q',
        kind: 'button',
        name: 'yes',
        values: [],
        channel: 'telegram',
        accountId: 'default',
        conversationId: 'telegram:-1005',
        threadId: 2,
        messageId: '9',
        isGroup: true,
        sender: { id: '42', name: 'Ada L', username: 'ada_l' },
      },
    });
  });

  it('under a message that is too old still says where', () => {
    expect(press({ message: { message_id: 9, date: 0, chat: direct } })).toMatchObject({
      interaction: { conversationId: 'telegram:42', messageId: '9' },
    });
  });

  it('of who may not write is nothing', () => {
    expect(press({}, { allowFrom: [1], groups: { '-1005': { allowFrom: [1] } } })).toMatchObject({
      kind: 'ignored',
    });
  });
});

describe('what is no message', () => {
  it.each<[string, unknown, object]>([
    ['a reaction', { update_id: 5, message_reaction: {} }, { kind: 'ignored' }],
    ['a dice', written({ text: undefined, dice: { emoji: '🎲', value: 2 } }), { kind: 'ignored' }],
    ['a line', 'hello', { kind: 'undecodable', path: '/update_id' }],
    [
      'a message without a chat',
      { update_id: 6, message: { message_id: 1 } },
      { kind: 'undecodable' },
    ],
  ])('%s', (_, update, expected) => {
    expect(decode(update)).toMatchObject(expected);
  });
});

describe('an address', () => {
  it.each<[string, object | undefined]>([
    ['telegram:42', { chatId: 42 }],
    ['tg:-100123', { chatId: -100_123 }],
    ['telegram:group:-1005:topic:9', { chatId: -1_005, topicId: 9 }],
    ['-1005:9', { chatId: -1_005, topicId: 9 }],
    ['@news_channel', { chatId: '@news_channel' }],
    ['42', { chatId: 42 }],
    ['slash:42', undefined],
    ['', undefined],
    ['telegram:42; drop', undefined],
  ])('%s', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected);
  });
});
