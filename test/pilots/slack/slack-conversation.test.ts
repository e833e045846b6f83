import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask, type Kernel, type PayloadOf } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { deployer } from '../../support/deployer.js';
import { edited, event, pressed, said, slash, tsOf } from '../../support/slack-api/envelopes.js';
import { slackLab } from '../../support/slack-lab.js';

const whole = { settings: { streaming: false } };

type Attachment = PayloadOf<'egress.preparing'>['attachments'][number];

/** Gives each message that goes out these files. */
const attaching = (attachments: readonly Attachment[]) => (kernel: Kernel) =>
  kernel.contribute({
    family: 'egress.preparing',
    class: 'mutator',
    extensionId: 'test',
    id: 'attach',
    handler: ({ payload }) =>
      payload.kind === 'unprompted' ? { attachments: [...attachments] } : undefined,
  });

describe('a message of a person on Slack', () => {
  it('goes through every stage in order, and is answered once, where it was written', async () => {
    await using lab = await slackLab(whole);
    await lab.settle(said(1, 'hello *you* &amp; <https://x.y|me>'));
    expect(lab.server.shown).toMatchObject([{ channel: 'D001', text: 'hello you & me' }]);
    const families = lab.outcomes.map(({ event: { family } }) => family);
    const order = ['ingress.received', 'ingress.normalized', 'routing.resolving', 'egress.sent'];
    const places = order.map((family) => families.indexOf(family as never));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(lab.of('ingress.normalized')[0]?.event).toMatchObject({
      conversationRef: { channel: 'slack', id: 'D001' },
      messageRef: { channel: 'slack', id: tsOf(1) },
    });
  });

  it('in a channel is answered in the thread that it begins, and one of a thread in its thread', async () => {
    await using lab = await slackLab(whole);
    await lab.settle(
      said(1, '<@UBOT1> one', { channel: 'C001' }),
      said(2, '<@UBOT1> two', { channel: 'C001', thread_ts: tsOf(1) }),
    );
    expect(lab.server.shown).toMatchObject([
      { channel: 'C001', threadTs: tsOf(1) },
      { channel: 'C001', threadTs: tsOf(1) },
    ]);
    const sessions = lab.of('session.started');
    expect(sessions).toHaveLength(1);
  });

  it('in a channel is answered beside it, where the settings say so', async () => {
    await using lab = await slackLab({ settings: { streaming: false, replyInThread: false } });
    await lab.settle(said(1, '<@UBOT1> one', { channel: 'C001' }));
    expect(lab.server.shown[0]).not.toHaveProperty('threadTs');
  });

  it('that was edited is answered anew, and a deletion, a join and a bot emit ingress.received alone', async () => {
    await using lab = await slackLab(whole);
    await lab.settle(edited(1, 'hello again', 'hello'));
    const { payload } = lab.of('ingress.normalized')[0] ?? {};
    expect(payload).toMatchObject({ content: 'hello again', isEdited: true, messageId: tsOf(1) });
    const before = lab.outcomes.length;
    await lab.settle(
      event('Ev7', {
        type: 'message',
        subtype: 'message_deleted',
        channel: 'D001',
        ts: tsOf(8),
        deleted_ts: tsOf(1),
      }),
      event('Ev8', { type: 'reaction_added', user: 'U00ADA' }),
      said(9, 'I joined', { subtype: 'channel_join' }),
      said(10, 'beep', { bot_id: 'B009' }),
      said(11, 'no mention', { channel: 'C001' }),
    );
    const families = new Set(lab.outcomes.slice(before).map(({ event: { family } }) => family));
    expect([...families]).toEqual(['ingress.received']);
  });

  it('brings its files by their ids, and answers with files of a folder that the settings name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-slack-'));
    try {
      await writeFile(join(folder, 'plan.txt'), 'the plan');
      await using lab = await slackLab({
        settings: { streaming: false, mediaRoots: [folder] },
        contribute: attaching([
          { kind: 'document', path: join(folder, 'plan.txt'), caption: 'the *plan*' },
          { kind: 'image', url: 'https://x.y/z.png' },
          { kind: 'document', url: 'https://x.y/z.pdf', name: 'z.pdf' },
        ]),
      });
      await lab.settle(
        said(1, 'look', {
          subtype: 'file_share',
          files: [
            {
              id: 'F9',
              name: 'a.png',
              mimetype: 'image/png',
              size: 12,
              url_private: 'https://files.x/a',
            },
          ],
        }),
      );
      expect(lab.of('ingress.normalized')[0]?.payload.attachments).toEqual([
        {
          kind: 'image',
          id: 'F9',
          name: 'a.png',
          mimeType: 'image/png',
          sizeBytes: 12,
          url: 'https://files.x/a',
        },
      ]);
      const sending = lab.host.send({
        ...{
          channel: 'slack',
          accountId: 'default',
          to: 'C001',
          threadId: tsOf(1),
          content: 'Here:',
        },
      });
      await lab.until(() => lab.server.shown.length === 5, 'all of it is sent');
      expect(await sending).toMatchObject({ status: 'sent' });
      expect(lab.server.shown.slice(1)).toMatchObject([
        { text: 'Here:', channel: 'C001', threadTs: tsOf(1) },
        { file: 'plan.txt, 8 bytes', text: 'the *plan*', threadTs: tsOf(1) },
        { blocks: [{ type: 'image', image_url: 'https://x.y/z.png' }] },
        { text: 'z.pdf' },
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each([
    [
      { kind: 'document', path: '/etc/passwd' } as const,
      /does not lie in one of config.mediaRoots/,
    ],
    [{ kind: 'document', id: 'F1' } as const, /Slack sends no file by its id/],
  ])('is not answered with a file that it cannot send: %j', async (attachment, reason) => {
    await using lab = await slackLab({ ...whole, contribute: attaching([attachment]) });
    const to = { channel: 'slack', accountId: 'default', to: 'C001', content: 'Here.' };
    expect((await lab.host.send(to)).error).toMatch(reason);
    expect(lab.server.shown).toEqual([]);
  });
});

describe('a slash command on Slack', () => {
  it('is interaction.* and command.*, and is answered (§19)', async () => {
    await using lab = await slackLab({ settings: { streaming: false, slashCommand: '/sluice' } });
    await lab.settle(
      slash(1, '/sluice', 'help me'),
      slash(2, '/sluice'),
      slash(3, '/other', 'x y'),
    );
    expect(
      lab
        .of('interaction.received')
        .map(({ payload }) => [payload.kind, payload.name, payload.values]),
    ).toEqual([
      ['command', 'help', ['me']],
      ['command', 'help', []],
      ['command', 'other', ['x', 'y']],
    ]);
    expect(lab.of('command.received').length).toBeGreaterThan(0);
    expect(lab.server.shown.length).toBeGreaterThan(0);
    expect(lab.of('ingress.normalized')).toEqual([]);
  });
});

describe('the elements of a message on Slack', () => {
  const toAda = { channel: 'slack', accountId: 'default', to: 'U00ADA' };
  const interactive = {
    buttons: [
      { id: 'go', label: 'Go' },
      { id: 'stay', label: 'Stay' },
    ],
    list: { name: 'day', label: 'The day', choices: [{ value: 'mon', label: 'Monday' }] },
    form: {
      name: 'who',
      label: 'About you',
      fields: [
        { name: 'name', label: 'Name' },
        { name: 'age', label: 'Age', isOptional: true },
      ],
    },
  };

  it('are blocks under the last of its parts, and come in as interaction.* (§14.16, §19.5)', async () => {
    await using lab = await slackLab(whole);
    const sending = lab.host.send({ ...toAda, content: 'long '.repeat(1_200), interactive });
    await lab.until(() => lab.server.shown.length === 2, 'both parts are sent');
    expect((await sending).status).toBe('sent');
    expect(lab.server.shown.map(({ channel }) => channel)).toEqual(['D00ADA', 'D00ADA']);
    const [first, last] = lab.server.shown.map(({ blocks }) => blocks.map(({ type }) => type));
    expect(first).toEqual(['rich_text']);
    expect(last).toEqual([
      ...['rich_text', 'actions', 'section', 'actions', 'section', 'input', 'input', 'actions'],
    ]);
    const values = {
      'field:name': { value: { type: 'plain_text_input', value: 'Ada' } },
      'field:age': { value: { value: null } },
    };
    await lab.settle(
      pressed(1, { action_id: 'button:1', value: 'stay' }),
      pressed(2, {
        type: 'static_select',
        action_id: 'list:day',
        selected_option: { value: 'mon' },
      }),
      pressed(3, { action_id: 'form:who' }, { state: { values } }),
      pressed(4, { action_id: 'made elsewhere' }),
    );
    expect(
      lab
        .of('interaction.received')
        .map(({ payload: { kind, name, values: chosen, fields } }) => [
          ...[kind, name, chosen, fields],
        ]),
    ).toEqual([
      ['button', 'stay', [], undefined],
      ['select', 'day', ['mon'], undefined],
      ['modal', 'who', [], [{ name: 'name', value: 'Ada' }]],
      ['button', 'made elsewhere', [], undefined],
    ]);
    expect(lab.of('ingress.normalized')).toEqual([]);
  });

  it.each([
    [
      { buttons: [{ id: 'go', label: 'x'.repeat(76) }] },
      /the label of the button "go" has 76 characters/,
    ],
    [{ buttons: [{ id: 'go', label: '' }] }, /has 0 characters, and Slack takes 1 to 75/],
    [
      {
        list: {
          name: 'l',
          choices: Array.from({ length: 101 }, (_, at) => ({ value: `${at}`, label: `${at}` })),
        },
      },
      /Slack shows 100 choices in a list, and it has 101/,
    ],
  ])(
    'that Slack would refuse are not sent, and the error names them (%#)',
    async (wrong, reason) => {
      await using lab = await slackLab(whole);
      const sent = await lab.host.send({ ...toAda, content: 'x', interactive: wrong });
      expect(sent.error).toMatch(reason);
      expect(lab.server.of('chat.postMessage')).toEqual([]);
    },
  );
});

describe('a thread of an assistant on Slack', () => {
  it('shows prompts when it begins, and a status while an answer is made', async () => {
    const prompts = [{ title: 'Plan', message: 'Make a plan' }];
    await using lab = await slackLab({
      settings: { streaming: false, assistant: { status: 'is thinking...', prompts } },
    });
    const thread = { channel_id: 'D001', thread_ts: tsOf(1), user_id: 'U00ADA', context: {} };
    await lab.settle(
      event('Ev1', {
        type: 'assistant_thread_started',
        assistant_thread: thread,
        event_ts: tsOf(1),
      }),
      said(2, 'hello', { thread_ts: tsOf(1) }),
      said(3, 'outside'),
    );
    expect(lab.server.of('assistant.threads.setSuggestedPrompts')).toMatchObject([
      { payload: { channel_id: 'D001', thread_ts: tsOf(1), prompts: JSON.stringify(prompts) } },
    ]);
    expect(lab.server.of('assistant.threads.setStatus')).toMatchObject([
      { payload: { channel_id: 'D001', thread_ts: tsOf(1), status: 'is thinking...' } },
    ]);
    expect(lab.server.shown).toMatchObject([{ threadTs: tsOf(1) }, { text: 'outside' }]);
  });
});

describe('a question to a human on Slack', () => {
  it('has buttons, and Allow lets the tool run once, however often it is pressed (judgement §4.16, judgement §4.19)', async () => {
    const ran: string[] = [];
    const extension = defineExtension({
      id: 'guard',
      setup: (api) =>
        api.veto('agent.tool.calling', 'deploys', () =>
          ask({ title: 'Deploy this?', scopes: ['tool'] }),
        ),
    });
    await using lab = await slackLab({
      agents: [{ id: 'main', provider: deployer(ran) }],
      extensions: [{ extension }],
      roles: { owner: ['slack:U00ADA'] },
    });
    const buttons = () =>
      lab.server.shown
        .flatMap(({ blocks }) => blocks)
        .flatMap(({ type, elements }) => (type === 'actions' ? (elements as Button[]) : []));
    lab.server.give(said(1, 'v2'));
    await lab.until(() => buttons().length === 3, 'the question is sent');
    expect(buttons().map(({ text }) => text.text)).toEqual([
      ...['Allow', 'Deny', 'Always for this tool'],
    ]);
    const [allow] = buttons();
    const press = { action_id: allow?.action_id, value: allow?.value };
    await lab.settle(pressed(2, press), pressed(3, press));
    await lab.until(() => ran.length > 0, 'the tool has run');
    expect(ran).toEqual(['v2']);
  });
});

interface Button {
  readonly text: { readonly text: string };
  readonly action_id: string;
  readonly value: string;
}
