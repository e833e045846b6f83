import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { readRecording, replayProvider } from '../../src/claude/agent/index.js';
import { splitRuns } from '../../src/claude/index.js';
import { createHost } from '../../src/host/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { ada, forum, group, messageUpdate, pressUpdate } from '../support/bot-api/updates.js';
import { chatTexts, recordings } from '../support/recordings.js';
import { type TelegramLab, telegramLab } from '../support/telegram-lab.js';

/** The families of the dispatches since updates came in, but for what grows. */
function way({ outcomes }: TelegramLab): string[] {
  const families = outcomes.map(({ event }) => event.family as string);
  return families
    .slice(families.indexOf('ingress.received'))
    .filter((family) => family !== 'agent.output.delta');
}

describe('a conversation over the Bot API', () => {
  it('takes a message through every stage in order, and answers it once, under it', async () => {
    await using lab = await telegramLab({ settings: { streaming: false } });
    await lab.settle(messageUpdate({ updateId: 101, text: 'hello' }));
    expect(way(lab)).toEqual([
      'ingress.received',
      'ingress.normalized',
      'routing.resolving',
      'routing.resolved',
      'session.starting',
      'session.started',
      'agent.starting',
      'agent.answer.resolving',
      'agent.model.resolving',
      'agent.prompt.building',
      'agent.llm.calling',
      'agent.llm.input',
      'transcript.message.writing',
      'transcript.message.writing',
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
      'egress.preparing',
      'egress.sending',
      'egress.sent',
    ]);
    expect(lab.server.shown).toMatchObject([{ chatId: 42, text: 'hello', replyToId: 5_101 }]);
    expect(lab.server.history).toEqual(['sent 1001 hello']);
    const correlations = lab.outcomes
      .slice(-way(lab).length)
      .map(({ event }) => event.correlationId);
    expect(new Set(correlations).size).toBe(1);
    expect(lab.of('egress.sent')[0]?.payload).toMatchObject({
      to: 'telegram:42',
      replyToId: '5101',
      receipt: { messageId: '1001', conversationId: 'telegram:42', sentAtMs: 1_773_532_800_000 },
    });
    const raw = lab.of('ingress.received')[0]?.payload;
    expect(raw).toMatchObject({ updateId: '101', raw: { update_id: 101 } });
  });

  it('answers in the topic that was written in, and in General without its id', async () => {
    await using lab = await telegramLab({ settings: { requireMention: false } });
    await lab.settle(
      messageUpdate({
        updateId: 101,
        text: 'in seven',
        chat: forum,
        more: { message_thread_id: 7, is_topic_message: true },
      }),
      messageUpdate({ updateId: 102, text: 'in general', chat: forum }),
    );
    expect(lab.server.shown).toMatchObject([
      { chatId: -1005, threadId: 7, text: expect.stringMatching(/in seven$/), replyToId: 5_101 },
      { chatId: -1005, text: expect.stringMatching(/in general$/), replyToId: 5_102 },
    ]);
    expect(lab.server.shown[1]?.threadId).toBeUndefined();
    const keys = lab.of('routing.resolved').map(({ payload }) => payload.sessionKey);
    expect(keys).toEqual([
      'agent:main:telegram:-1005:thread:7',
      'agent:main:telegram:-1005:thread:1',
    ]);
  });

  it('confirms an update only when it is done with, in whatever order they end', async () => {
    const release: (() => void)[] = [];
    await using lab = await telegramLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'augmenter',
          extensionId: 'test',
          id: 'hold',
          timeoutMs: 3_600_000,
          handler: async ({ payload }) => {
            if (payload.content === 'slow')
              await new Promise<void>((resolve) => {
                release.push(resolve);
              });
            return {};
          },
        }),
    });
    const other = { id: 43, type: 'private', first_name: 'Bob' };
    lab.server.give(messageUpdate({ updateId: 101, text: 'slow' }));
    await lab.settle(messageUpdate({ updateId: 102, text: 'quick', chat: other }));
    const polls = lab.server.of('getUpdates').length;
    await lab.until(() => lab.server.of('getUpdates').length > polls + 3, 'three more polls');
    expect(lab.server.offset).toBeLessThanOrEqual(101); // the second is done with, the first is not
    expect(lab.server.waiting).toHaveLength(2);
    expect(lab.ends).toHaveLength(1); // and comes in once, however often Telegram gives it
    for (const resolve of release) resolve();
    await lab.until(() => lab.server.offset === 103, 'both are confirmed');
    expect(lab.ends).toHaveLength(2);
    expect(lab.server.waiting).toEqual([]);
  });

  it('that is stopped before a message was done with lets it come again, and confirms what was', async () => {
    const lab = await telegramLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'augmenter',
          extensionId: 'test',
          id: 'hold',
          timeoutMs: 3_600_000,
          handler: ({ payload, signal }) =>
            payload.content === 'slow'
              ? new Promise((resolve) => {
                  signal.addEventListener('abort', () => resolve({}), { once: true });
                })
              : {},
        }),
    });
    const other = { id: 43, type: 'private', first_name: 'Bob' };
    await lab.settle(messageUpdate({ updateId: 101, text: 'quick' }));
    lab.server.give(messageUpdate({ updateId: 102, text: 'slow', chat: other }));
    await lab.until(() => lab.of('ingress.received').length === 2, 'the second is in');
    const { server } = lab;
    await lab[Symbol.asyncDispose]();
    expect(server.waiting).toMatchObject([{ update_id: 102 }]);
    expect(lab.ends.map(({ status }) => status)).toEqual(['answered', 'aborted']);
  });

  it('that waits for room behind a turn that does not end is stopped all the same', async () => {
    const lab = await telegramLab({
      lanes: { capacity: 1 },
      contribute: (kernel) =>
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'augmenter',
          extensionId: 'test',
          id: 'hold',
          timeoutMs: 3_600_000,
          handler: ({ signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve({}), { once: true });
            }),
        }),
    });
    const texts = ['one', 'two', 'three'].map((text, at) =>
      messageUpdate({ updateId: 101 + at, text }),
    );
    lab.server.give(...texts);
    await lab.until(() => lab.of('ingress.received').length > 0, 'the first is in');
    const { server } = lab;
    await lab[Symbol.asyncDispose]();
    expect(lab.host.state).toBe('stopped');
    expect(server.waiting).toHaveLength(3); // none was done with: they come again
  });

  it('confirms the last message before it goes', async () => {
    const lab = await telegramLab();
    await lab.settle(messageUpdate({ updateId: 101, text: 'hello' }));
    const { server } = lab;
    await lab[Symbol.asyncDispose]();
    expect(server.offset).toBe(102);
    expect(server.waiting).toEqual([]);
  });

  it('takes a press as interaction.* alone, and a slash command as interaction.* and command.* (§19)', async () => {
    await using lab = await telegramLab();
    await lab.settle(pressUpdate({ updateId: 101, data: 'approve:1' }));
    expect(way(lab)).toEqual([
      'ingress.received',
      'interaction.received',
      'interaction.resolved',
      'interaction.completed',
    ]);
    expect(lab.of('interaction.received')[0]?.payload).toMatchObject({
      interactionId: 'press-101',
      kind: 'button',
      name: 'approve:1',
      sender: { id: '42' },
    });
    const answered = () => lab.server.of('answerCallbackQuery').map(({ payload }) => payload);
    await lab.until(() => answered().length > 0, 'the button waits no more');
    expect(answered()).toEqual([{ callback_query_id: 'press-101' }]);
    await lab.settle(messageUpdate({ updateId: 102, text: '/start' }));
    expect(lab.of('interaction.received')[1]?.payload).toMatchObject({ name: 'start' });
    expect(lab.of('command.received')[0]?.payload).toMatchObject({
      name: 'help',
      source: 'native',
      surface: 'telegram',
    });
    expect(lab.server.shown[0]?.text).toMatch(/^\/new/);
    expect(lab.of('ingress.normalized')).toEqual([]);
    expect(lab.of('agent.starting')).toEqual([]);
  });

  it('emits nothing but ingress.received of who may not write, and of a group that does not name the bot', async () => {
    const settings = { allowFrom: [42], groupPolicy: 'open' };
    await using lab = await telegramLab({ settings });
    const eve = { id: 66, is_bot: false, first_name: 'Eve' };
    await lab.settle(
      messageUpdate({ updateId: 101, text: 'hi', from: eve, chat: { id: 66, type: 'private' } }),
      messageUpdate({ updateId: 102, text: 'hi all', chat: group }),
      pressUpdate({ updateId: 103, data: 'x', more: { from: eve } }),
    );
    expect(way(lab)).toEqual(['ingress.received', 'ingress.received', 'ingress.received']);
    expect(lab.ends.map(({ reason }) => reason)).toEqual([
      'its sender is not allowed',
      'it does not name the bot',
      'its sender is not allowed',
    ]);
    await lab.settle(messageUpdate({ updateId: 104, text: 'hi @lima_bot', chat: group }));
    expect(lab.server.shown).toMatchObject([
      { chatId: -77, text: expect.stringMatching(/hi @lima_bot$/) },
    ]);
    expect(lab.server.of('answerCallbackQuery')).toEqual([]);
  });

  it('keeps the accounts of two bots apart', async () => {
    const env = { ONE: '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc', TWO: 'x' };
    const settings = { accounts: { one: { tokenEnv: 'ONE' }, two: { tokenEnv: 'TWO' } } };
    await using lab = await telegramLab({ settings, env });
    await lab.settle(messageUpdate({ updateId: 101, text: 'hello' }));
    expect(lab.ends).toMatchObject([{ accountId: 'one', status: 'answered' }]);
    expect(lab.of('account.stopped')[0]?.payload).toMatchObject({
      accountId: 'two',
      error: expect.stringMatching(/^TWO holds no token of a bot/),
    });
  });
});

describe('a recorded Claude stream behind the Bot API', () => {
  it.each(recordings())('$name: each text is shown once, in order, in its thread', async (one) => {
    const frames = await readRecording(one.path, ({ problem }) => expect.fail(problem));
    const agents = [{ id: 'main', provider: replayProvider(frames) }];
    await using lab = await telegramLab({ agents, failureText: () => undefined });
    const runs = splitRuns(frames, { end: 'settled' }).length;
    for (let run = 0; run < runs; run++)
      await lab.settle(messageUpdate({ updateId: 101 + run, text: 'go on', from: ada }));
    const shown = lab.server.shown.map(({ text }) => text).join('\n');
    const plain = (text: string): string =>
      text.replaceAll(/```\w*|[\s*_`#>~|\-•[\]()]|https?:\S+/g, '');
    expect(plain(shown)).toBe(plain(chatTexts(one.lines).join('\n')));
    expect(new Set(lab.server.shown.map(({ chatId }) => chatId)).size).toBeLessThan(2);
    expect(lab.outcomes.flatMap(({ failures }) => failures)).toEqual([]);
    const prepared = lab.of('egress.preparing');
    const opened = new Set(prepared.flatMap(({ payload }) => payload.openedBy ?? []));
    expect(lab.of('egress.sent')).toHaveLength(prepared.length - opened.size); // §14.8
  });
});

it('a bot whose account another host had meanwhile sends again', async () => {
  await using lab = await telegramLab();
  await lab.host.stop();
  const { clock, channel } = lab;
  const next = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    channels: [channel],
    kernel: createTestKernel({ clock }).kernel,
    clock,
  });
  await next.start();
  const sending = next.send({ channel: 'telegram', accountId: 'default', to: '7', content: 'hi' });
  await lab.until(() => lab.server.of('sendMessage').length === 1, 'it is sent');
  expect(await sending).toMatchObject({ status: 'sent' });
  let hasStopped = false;
  void next.stop().finally(() => {
    hasStopped = true;
  });
  await lab.until(() => hasStopped, 'the host has stopped');
});
