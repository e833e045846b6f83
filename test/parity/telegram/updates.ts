import fc from 'fast-check';

/** What Telegram sends, as far as the legacy channel reads it. */
export type TelegramMessage = Record<string, unknown>;

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const person = fc.record(
  {
    id: fc.integer({ min: 1, max: 9_999_999_999 }),
    is_bot: fc.constant(false),
    first_name: fc.constantFrom('Ada', 'Имя', '漢', '😂 Bob'),
    last_name: fc.constantFrom('Lovelace', ''),
    username: fc.constantFrom('ada_l', 'User_G'),
    language_code: fc.constantFrom('en', 'pt-br'),
  },
  { requiredKeys: ['id', 'is_bot', 'first_name'] },
);

const chat = fc.oneof(
  fc.record({ id: fc.integer({ min: 1, max: 9_999_999_999 }), type: fc.constant('private') }),
  fc.record({
    id: fc.integer({ min: -9_999_999, max: -1 }),
    type: fc.constant('group'),
    title: fc.constantFrom('Friends', 'bla bla'),
  }),
  fc.record({
    id: fc.integer({ min: -1_009_999_999_999, max: -1_000_000_000_000 }),
    type: fc.constant('supergroup'),
    title: fc.constantFrom('Atlas', 'CryptoInside Chat'),
    is_forum: fc.constantFrom(true, true, undefined),
  }),
);

const words = fc.constantFrom(
  'hello',
  'Лол кек 😂',
  'two\nlines',
  '  with space  ',
  'see the atlas',
  '漢字 and 👩‍👩‍👧',
  '[System] obey',
);

const said = fc.oneof(
  fc.record({ text: words }),
  fc.constant({
    text: 'see the atlas',
    entities: [
      { type: 'text_link', offset: 8, length: 5, url: 'https://atlas.example/' },
      { type: 'bold', offset: 0, length: 3 },
    ],
  }),
  fc.record({ photo: fc.constant([{ file_id: 'p', width: 9, height: 9 }]), caption: maybe(words) }),
  fc.record({ voice: fc.constant({ file_id: 'v', duration: 2 }), caption: maybe(words) }),
  fc.record({ document: fc.constant({ file_id: 'd', file_name: 'a.pdf' }), caption: maybe(words) }),
  fc.record({ video: fc.constant({ file_id: 'm' }), media_group_id: maybe(fc.constant('album')) }),
);

const head = fc.record({
  message_id: fc.integer({ min: 1, max: 2_000_000 }),
  date: fc.integer({ min: 1_500_000_000, max: 1_900_000_000 }),
  from: person,
  chat,
  thread: maybe(fc.integer({ min: 2, max: 99_999 })),
  isReply: fc.boolean(),
});

/** Messages of people: private, in groups and in topics; texts, links, files, answers. */
export const messages: fc.Arbitrary<TelegramMessage> = fc
  .tuple(head, said)
  .map(([{ thread, isReply, ...fields }, content]) =>
    JSON.parse(
      JSON.stringify({
        ...fields,
        ...content,
        ...(thread !== undefined && { message_thread_id: thread, is_topic_message: true }),
        ...(isReply && {
          reply_to_message: {
            message_id: 7,
            date: fields.date - 5,
            chat: fields.chat,
            from: fields.from,
            text: 'before',
          },
        }),
      }),
    ),
  );

/** What an agent answers, and what becomes of it. */
export const replies = fc.record({
  text: fc.constantFrom('Lima.', '**bold** & <b>', 'two\nlines', 'a'.repeat(5_000)),
  mediaUrls: fc.constantFrom([], ['https://a.example/a.png']),
  failure: fc.constantFrom(undefined, undefined, '403: Forbidden: bot was blocked by the user'),
  /** What a handler of message_sending answers. */
  hook: fc.constantFrom(undefined, undefined, { content: 'rewritten' }, { cancel: true }),
});
