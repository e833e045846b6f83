import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../src/journal/index.js';
import { ada, forum, messageUpdate, saidAtS } from '../support/bot-api/updates.js';
import { held } from '../support/held-agent.js';
import { mortalJournal } from '../support/mortal-journal.js';
import { telegramLab } from '../support/telegram-lab.js';

/** Somebody edits message 5_101. */
const edit = (updateId: number, fields: object) => ({
  update_id: updateId,
  edited_message: {
    message_id: 5_101,
    date: saidAtS,
    edit_date: saidAtS + 5,
    chat: { id: 42, type: 'private', first_name: 'Ada' },
    from: ada,
    ...fields,
  },
});

const oldGroup = { id: -555, type: 'group', title: 'G' };
const newGroup = { id: -100_555, type: 'supergroup', title: 'G' };
const named = { text: 'hi @lima_bot', entities: [{ type: 'mention', offset: 3, length: 9 }] };

describe('a topic', () => {
  it.each<[string, object]>([
    ['gone', { topics: new Set([1]) }],
    ['closed', { closed: new Set([7]) }],
  ])(
    'that is %s: the whole answer is in the chat, once, and the topic is tried once',
    async (_, chats) => {
      const agent = held();
      agent.release();
      const settings = { requireMention: false, streaming: false };
      await using lab = await telegramLab({
        settings,
        agents: [{ id: 'main', provider: agent.provider }],
        prepare: (server) => Object.assign(server.chats, chats),
      });
      const text = 'word '.repeat(1_000).trim();
      const more = { message_thread_id: 7, is_topic_message: true };
      await lab.settle(messageUpdate({ updateId: 101, text, chat: forum, more }));
      expect(lab.ends).toMatchObject([{ status: 'answered' }]);
      expect(lab.server.shown.map(({ chatId, threadId }) => [chatId, threadId])).toEqual([
        [-1005, undefined],
        [-1005, undefined],
      ]);
      expect(
        lab.server.of('sendMessage').map(({ payload }) => payload['message_thread_id']),
      ).toEqual([7, undefined, undefined]);
    },
  );

  it('that was made up of a thread of replies is written to by nobody', async () => {
    await using lab = await telegramLab({
      settings: { requireMention: false },
      prepare: (server) => Object.assign(server.chats, { topics: new Set() }),
    });
    const more = { message_thread_id: 5 };
    await lab.settle(
      messageUpdate({ updateId: 101, text: 'and now?', chat: forum, more }),
      messageUpdate({ updateId: 102, text: 'and here?', more }),
    );
    expect(lab.ends).toMatchObject([{ status: 'answered' }, { status: 'answered' }]);
    for (const { payload } of lab.server.of('sendMessage'))
      expect(payload).not.toHaveProperty('message_thread_id');
  });
});

describe('an edit', () => {
  const photo = (id: string, lasting: string) => [
    { file_id: id, file_unique_id: lasting, width: 1, height: 1 },
  ];
  const link = (url: string) => ({
    text: 'see it',
    entities: [{ type: 'text_link', offset: 4, length: 2, url }],
  });

  it.each<[string, object, object, boolean]>([
    ['of a preview', { text: 'hi' }, { text: 'hi', link_preview_options: { url: 'x' } }, false],
    ['of its words', { text: 'hi' }, { text: 'ho' }, true],
    [
      'of a caption',
      { photo: photo('a', 'u'), caption: 'x' },
      { photo: photo('a', 'u'), caption: 'y' },
      true,
    ],
    [
      'that gives its file another id',
      { photo: photo('a', 'u') },
      { photo: photo('b', 'u') },
      false,
    ],
    ['of its file', { photo: photo('a', 'u') }, { photo: photo('a', 'v') }, true],
    [
      'of its emphasis',
      { text: 'hi' },
      { text: 'hi', entities: [{ type: 'bold', offset: 0, length: 2 }] },
      false,
    ],
    ['of the target of a link', link('https://a.example/'), link('https://b.example/'), true],
  ])('%s is answered only if it changes what was said', async (_, before, after, isAnswered) => {
    await using lab = await telegramLab({});
    await lab.settle(messageUpdate({ updateId: 101, more: before }));
    await lab.settle(edit(102, after));
    const [, end] = lab.ends;
    const unchanged = { status: 'ignored', reason: 'an edit that changes nothing' };
    if (isAnswered) expect(end?.status).not.toBe('ignored');
    else expect(end).toMatchObject(unchanged);
    await lab.settle(edit(103, before)); // the words of before are new again
    expect(lab.ends[2]?.status === 'ignored').toBe(!isAnswered);
    await lab.until(() => lab.server.offset === 104, 'all are confirmed');
  });

  it('of a message from before a restart is answered: nothing is lost by what is forgotten', async () => {
    const kept = memoryJournal();
    const first = await telegramLab({ journal: mortalJournal(kept) });
    await first.settle(messageUpdate({ updateId: 101, text: 'hi' }));
    await first[Symbol.asyncDispose]();
    await using after = await telegramLab({ journal: kept });
    await after.settle(edit(102, { text: 'hi' }));
    expect(after.ends).toMatchObject([{ status: 'answered' }]);
  });

  it.each<[string, object]>([
    ['a text', { text: 5 }],
    ['entities', { text: 'x', entities: {} }],
    ['an entity', { text: 'x', entities: [null] }],
    ['a chat', { chat: null }],
  ])('that has %s that nobody can read keeps nothing else from being answered', async (_, more) => {
    await using lab = await telegramLab({});
    await lab.settle(edit(101, more), messageUpdate({ updateId: 102, text: 'hello' }));
    const of = (id: string) => lab.ends.find(({ updateId }) => updateId === id)?.status;
    expect([of('101'), of('102')]).toEqual(['undecodable', 'answered']);
  });

  it('that the host could not take in is answered when it comes again', async () => {
    const kept = memoryJournal();
    const refused: number[] = [];
    const journal = mortalJournal(kept, (write, nth) => {
      if (write !== 'accept' || (nth !== 2 && nth !== 3)) return undefined;
      refused.push(nth);
      return new Error('the disk is full');
    });
    await using lab = await telegramLab({ journal });
    await lab.settle(messageUpdate({ updateId: 101, text: 'hi' }));
    await lab.settle(edit(102, { text: 'ho' }), edit(103, { text: 'ho' }));
    await lab.until(() => lab.server.offset === 104, 'both are confirmed');
    expect(refused).toEqual([2, 3]);
    const last = ['102', '103'].map((id) => lab.ends.findLast(({ updateId }) => updateId === id));
    expect(last).toMatchObject([{ status: 'answered' }, { status: 'ignored' }]);
  });
});

describe('a group that moves', () => {
  const settings = { groups: { '-555': {} } };
  const leaves = messageUpdate({
    updateId: 101,
    chat: oldGroup,
    more: { migrate_to_chat_id: -100_555 },
  });
  const arrives = messageUpdate({
    updateId: 102,
    chat: newGroup,
    more: { migrate_from_chat_id: -555 },
  });
  const says = messageUpdate({ updateId: 103, chat: newGroup, more: named });

  it.each([
    ['as it was', leaves],
    ['as it is', arrives],
  ])('is followed, and told with both ids, by the message in the group %s', async (_, told) => {
    await using lab = await telegramLab({ settings });
    await lab.settle(told);
    await lab.settle(says);
    expect(lab.server.shown).toMatchObject([{ chatId: -100_555 }]);
    const warned = lab.log.entries.filter(({ message }) => message.includes('-100555'));
    expect(warned).toMatchObject([
      { level: 'warn', message: expect.stringContaining('-555 is -100555') },
    ]);
  });

  it('is known after a restart, so that a message that waits is answered', async () => {
    const values = new Map<string, unknown>();
    const moves = {
      set: async (key: string, value: unknown) => void values.set(key, value),
      list: async <T>() => [...values].map(([key, value]) => ({ key, value: value as T })),
    };
    const kept = memoryJournal();
    const mortal = mortalJournal(kept);
    const agent = held();
    const first = await telegramLab({
      ...{ settings, moves, journal: mortal },
      agents: [{ id: 'main', provider: agent.provider }],
    });
    await first.settle(leaves, arrives);
    first.server.give(says);
    await first.until(() => agent.asked.length === 1, 'the agent is asked');
    mortal.kill();
    agent.release();
    await first[Symbol.asyncDispose]();
    await using after = await telegramLab({ settings, moves, journal: kept });
    await after.until(() => after.ends.length === 1, 'what was kept is answered');
    expect(after.server.shown).toMatchObject([{ chatId: -100_555 }]);
  });

  it('is learned from a send, which goes to the new id once', async () => {
    const agent = held();
    await using lab = await telegramLab({
      settings,
      agents: [{ id: 'main', provider: agent.provider }],
    });
    lab.server.give(messageUpdate({ updateId: 101, chat: oldGroup, more: named }));
    await lab.until(() => agent.asked.length === 1, 'the agent is asked');
    lab.server.chats.moved.set(-555, -100_555);
    agent.release();
    await lab.until(() => lab.ends.length === 1, 'it is answered');
    expect(lab.server.shown).toMatchObject([{ chatId: -100_555 }]);
    await lab.settle(says);
    expect(lab.server.shown.map(({ chatId }) => chatId)).toEqual([-100_555, -100_555]);
  });
});
