import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { config } from '../src/config.js';
import { decodeUpdate } from '../src/ingress/decode.js';
import { toMarkdown } from '../src/text/markdown.js';

const ada = { id: 42, is_bot: false, first_name: 'Ada' };
const bo = { id: 43, is_bot: false, first_name: 'Bo', username: 'bo_x' };
const direct = { id: 42, type: 'private', first_name: 'Ada' };
const news = { id: -100999, type: 'channel', title: 'News' };
const photo = [{ file_id: 'p', file_unique_id: 'u', width: 1, height: 1 }];
const date = 1_700_000_000;
const sentAtMs = date * 1_000;

/** The surroundings of a message of these fields, as `ingress.normalized` has it. */
function decoded(fields: object) {
  const message = { message_id: 5, date, chat: direct, from: ada, ...fields };
  const made = decodeUpdate(
    { update_id: 1, message },
    { accountId: 'default', bot: { id: 7, username: 'lima_bot' }, config: config.parse({}) },
  );
  if (made.kind !== 'message') throw new Error(JSON.stringify(made));
  return made.message;
}

describe('what a message answers', () => {
  it.each<[string, object, object]>([
    [
      'a photo with its caption',
      { reply_to_message: { message_id: 3, date, chat: direct, from: bo, photo, caption: 'look' } },
      { content: 'look', attachments: [{ kind: 'image', id: 'p' }], sender: { name: 'Bo' } },
    ],
    [
      'a text with a link',
      {
        reply_to_message: {
          ...{ message_id: 3, date, chat: direct, from: bo, text: 'see it' },
          entities: [{ type: 'text_link', offset: 4, length: 2, url: 'https://a.example/' }],
        },
      },
      { content: 'see [it](https://a.example/)' },
    ],
    [
      'a photo without words',
      { reply_to_message: { message_id: 3, date, chat: direct, from: bo, photo } },
      { attachments: [{ kind: 'image', id: 'p' }] },
    ],
    [
      'a poll',
      {
        reply_to_message: {
          ...{ message_id: 3, date, chat: direct, from: bo },
          poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] },
        },
      },
      { content: 'Tea?\n- yes\n- no' },
    ],
    [
      'a quote of another chat',
      {
        external_reply: { origin: { type: 'channel', chat: news, message_id: 9, date } },
        quote: { text: 'at five', position: 0 },
      },
      { messageId: 9, channelName: 'News', content: 'at five', isQuote: true, sentAtMs },
    ],
    [
      'a picture of another chat',
      { external_reply: { origin: { type: 'user', sender_user: bo, date }, photo } },
      { sender: { id: '43', name: 'Bo' }, attachments: [{ kind: 'image', id: 'p' }] },
    ],
    [
      'a story',
      { reply_to_story: { id: 4, chat: { id: 43, type: 'private', first_name: 'Bo' } } },
      { messageId: 4, sender: { name: 'Bo' }, content: '(a story)' },
    ],
  ])('is %s', (_, fields, replyTo) => {
    expect(decoded({ text: 'expand on this', ...fields }).replyTo).toMatchObject(replyTo);
  });
});

it.each<[string, object, object]>([
  ['a person', { type: 'user', sender_user: bo }, { sender: { id: '43', username: 'bo_x' } }],
  ['a person who hides', { type: 'hidden_user', sender_user_name: 'B' }, { sender: { name: 'B' } }],
  [
    'a group',
    { type: 'chat', sender_chat: { id: -5, type: 'group', title: 'G' }, author_signature: 'Al' },
    { channelName: 'G', conversationId: 'telegram:-5', sender: { name: 'Al' } },
  ],
  [
    'a channel',
    { type: 'channel', chat: news, message_id: 3 },
    { channelName: 'News', messageId: 3 },
  ],
  ['a kind that comes later', { type: 'community' }, {}],
])('a message that is forwarded from %s says so', (_, origin, expected) => {
  const { forwardedFrom } = decoded({ text: 'x', forward_origin: { ...origin, date } });
  expect(forwardedFrom).toMatchObject({ ...expected, sentAtMs });
});

it.each<[string, object, object]>([
  [
    'a contact',
    { contact: { phone_number: '+51 1', first_name: 'Bo', last_name: 'Q' } },
    { kind: 'contact', title: 'Bo Q', text: '+51 1' },
  ],
  [
    'a place',
    { location: { latitude: -12, longitude: -77 } },
    { kind: 'location', text: 'latitude -12, longitude -77' },
  ],
  [
    'a venue',
    { venue: { location: { latitude: 1, longitude: 2 }, title: 'Bar', address: 'Jr. 5' } },
    { kind: 'location', title: 'Bar', text: 'Jr. 5\nlatitude 1, longitude 2' },
  ],
  [
    'a poll',
    { poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] } },
    { kind: 'poll', title: 'Tea?', text: '- yes\n- no' },
  ],
  ['a story', { story: { id: 1, chat: news } }, { kind: 'story', title: 'News' }],
])('a message that shares %s alone is a message, and says what it is', (_, fields, expected) => {
  expect(decoded(fields)).toMatchObject({ content: '', shared: [expected] });
});

it('an edit of what is shared, such as of a place that moves, is no message', () => {
  const moved = {
    message_id: 5,
    date,
    chat: direct,
    from: ada,
    location: { latitude: 1, longitude: 1 },
  };
  const context = { accountId: 'a', bot: { id: 7, username: 'b' }, config: config.parse({}) };
  expect(decodeUpdate({ update_id: 1, edited_message: moved }, context).kind).toBe('ignored');
});

describe('emphasis and code', () => {
  const entity = (type: string, offset: number, length: number, more = {}) => ({
    ...{ type, offset, length },
    ...more,
  });
  it.each<[string, string, object[], string]>([
    ['bold', 'not now', [entity('bold', 0, 3)], '**not** now'],
    ['bold and italic', 'hi', [entity('bold', 0, 2), entity('italic', 0, 2)], '**_hi_**'],
    [
      'italic within bold that ends with it',
      'hi there',
      [entity('bold', 0, 8), entity('italic', 3, 5)],
      '**hi _there_**',
    ],
    ['a spoiler', 'he dies', [entity('spoiler', 3, 4)], 'he ||dies||'],
    ['code with a backtick', 'run a`b', [entity('code', 4, 3)], 'run ``a`b``'],
    [
      'a block of code in a line',
      'see x=1 now',
      [entity('pre', 4, 3, { language: 'js' })],
      'see \n```js\nx=1\n```\n now',
    ],
    ['a quote of two lines', 'a\nb\nc', [entity('blockquote', 0, 3)], '> a\n> b\nc'],
    [
      'bold within a quote',
      'a\nb',
      [entity('bold', 0, 3), entity('expandable_blockquote', 0, 3)],
      '> **a\n> b**',
    ],
    [
      'a person without a name',
      'ask Bo',
      [entity('text_mention', 4, 2, { user: bo })],
      'ask [Bo](tg://user?id=43)',
    ],
  ])('is Markdown for the agent, and no part of the content: %s', (_, text, entities, expected) => {
    const message = decoded({ text, entities });
    expect(message.content).toBe(text);
    expect(message.promptText).toBe(expected);
    expect(decoded({ caption: text, caption_entities: entities, photo }).promptText).toBe(expected);
  });

  it('is nothing in a text without any, whatever signs it has', () => {
    expect(decoded({ text: '2 * 3 * 4 `x`' })).not.toHaveProperty('promptText');
  });

  it('keeps every letter of a text, however its entities overlap (P)', () => {
    const types = ['bold', 'italic', 'code', 'pre', 'blockquote', 'spoiler', 'underline'] as const;
    const one = fc.record({
      type: fc.constantFrom(...types),
      offset: fc.nat({ max: 12 }),
      length: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z\n ]{1,20}$/), fc.array(one), (text, entities) => {
        const letters = toMarkdown(text, entities as never).replace(/[^a-z]/g, '');
        expect(letters).toBe(text.replace(/[^a-z]/g, ''));
      }),
    );
  });
});
