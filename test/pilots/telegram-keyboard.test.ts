import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../src/kernel/internal.js';
import type { Interactive } from '../../src/sdk/channel/index.js';
import { messageUpdate, pressUpdate } from '../support/bot-api/updates.js';
import { telegramLab } from '../support/telegram-lab.js';

const toAda = { channel: 'telegram', accountId: 'default', to: '42' };

const keyboardOf = (payload: Readonly<Record<string, unknown>> | undefined): unknown =>
  (payload?.['reply_markup'] as { readonly inline_keyboard: unknown } | undefined)?.inline_keyboard;

describe('the elements of a message on Telegram', () => {
  it('are a keyboard: buttons side by side where they fit, and each choice in a row (§14.16)', async () => {
    await using lab = await telegramLab();
    const sending = lab.host.send({
      ...toAda,
      content: 'Shall we?',
      interactive: {
        buttons: [
          { id: 'go', label: 'Go' },
          { id: 'stay', label: 'Stay' },
          { id: 'long', label: 'Let us think about it' },
        ],
        list: {
          name: 'day?',
          choices: [
            { value: 'mon', label: 'Monday' },
            { value: 'a=b', label: 'Tuesday' },
          ],
        },
        form: { name: 'who', fields: [{ name: 'name', label: 'Name' }] },
      },
    });
    await lab.until(() => lab.server.of('sendMessage').length === 1, 'it is sent');
    expect((await sending).status).toBe('sent');
    const [call] = lab.server.of('sendMessage');
    expect(call?.payload['text']).toBe('Shall we?\n\n• Name');
    expect(keyboardOf(call?.payload)).toEqual([
      [
        { text: 'Go', callback_data: 'go' },
        { text: 'Stay', callback_data: 'stay' },
        { text: 'Let us think about it', callback_data: 'long' },
      ],
      [{ text: 'Monday', callback_data: '?day%3F=mon' }],
      [{ text: 'Tuesday', callback_data: '?day%3F=a=b' }],
    ]);
  });

  it('stand under the last of its parts, and come in as interaction.* (§19.5)', async () => {
    await using lab = await telegramLab();
    const interactive: Interactive = { buttons: [{ id: '?go', label: 'Go' }] };
    const sending = lab.host.send({ ...toAda, content: 'long '.repeat(1_200), interactive });
    await lab.until(() => lab.server.of('sendMessage').length === 2, 'both parts are sent');
    await sending;
    const keyboards = lab.server.of('sendMessage').map(({ payload }) => keyboardOf(payload));
    expect(keyboards).toEqual([undefined, [[{ text: 'Go', callback_data: '??go' }]]]);
    await lab.settle(
      pressUpdate({ updateId: 101, data: '??go' }),
      pressUpdate({ updateId: 102, data: '?day%3F=a=b' }),
      pressUpdate({ updateId: 103, data: '?made elsewhere' }),
      pressUpdate({ updateId: 104, data: '?%=x' }),
    );
    expect(
      lab
        .of('interaction.received')
        .map(({ payload }) => [payload.kind, payload.name, payload.values]),
    ).toEqual([
      ['button', '?go', []],
      ['select', 'day?', ['a=b']],
      ['button', '?made elsewhere', []],
      ['select', '%', ['x']],
    ]);
  });

  it.each<[string, Interactive, RegExp]>([
    [
      'the id of a button is longer than 64 bytes',
      { buttons: [{ id: 'ä'.repeat(33), label: 'Go' }] },
      /the button "Go" needs 66 bytes of data, and Telegram takes 1 to 64/,
    ],
    ['a button has no label', { buttons: [{ id: 'go', label: ' ' }] }, /without a label/],
    [
      'there are more than 100 buttons',
      { buttons: Array.from({ length: 101 }, (_, at) => ({ id: `b${at}`, label: `${at}` })) },
      /shows 100 buttons under a message, and it has 101/,
    ],
  ])('are refused if %s, and nothing is sent (§14.16)', async (_what, interactive, reason) => {
    await using lab = await telegramLab();
    const report = await lab.host.send({ ...toAda, content: 'Shall we?', interactive });
    expect(report).toMatchObject({ status: 'failed', attempts: 1 });
    expect(report.error).toMatch(reason);
    expect(lab.server.of('sendMessage')).toEqual([]);
  });

  it('come with a final that grew: its preview is taken back, and it goes out by a send (§14.16)', async () => {
    await using lab = await telegramLab({
      settings: { streaming: true },
      contribute: (kernel: Kernel) => {
        kernel.contribute({
          family: 'egress.preparing',
          class: 'mutator',
          extensionId: 'test',
          id: 'ask',
          preview: 'ok',
          handler: ({ payload }) =>
            payload.kind === 'stream-final'
              ? { interactive: { buttons: [{ id: 'more', label: 'More' }] } }
              : undefined,
        });
      },
    });
    await lab.settle(messageUpdate({ updateId: 101, text: 'hello' }));
    expect(lab.server.shown.map(({ text }) => text)).toEqual(['hello']);
    const last = lab.server.of('sendMessage').at(-1);
    expect(keyboardOf(last?.payload)).toEqual([[{ text: 'More', callback_data: 'more' }]]);
    expect(lab.server.of('sendMessage')).toHaveLength(2);
    expect(lab.of('egress.sent')).toHaveLength(1);
  });
});
