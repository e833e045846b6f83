import { describe, expect, it } from 'vitest';
import { ask } from '../../src/kernel/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import { ada, messageUpdate, pressUpdate } from '../support/bot-api/updates.js';
import { deployer } from '../support/deployer.js';
import { telegramLab } from '../support/telegram-lab.js';

const eve = { ...ada, id: 66, first_name: 'Eve', username: 'eve' };

/** A host on Telegram whose agent deploys after an owner was asked: 42 is one. */
async function askingLab() {
  const ran: string[] = [];
  const extension = defineExtension({
    id: 'guard',
    setup: (api) =>
      api.veto('agent.tool.calling', 'deploys', () =>
        ask({ title: 'Deploy this?', scopes: ['tool'] }),
      ),
  });
  const lab = await telegramLab({
    agents: [{ id: 'main', provider: deployer(ran) }],
    extensions: [{ extension }],
    roles: { owner: ['telegram:42'] },
  });
  const texts = (): readonly string[] =>
    lab.server.of('sendMessage').map(({ payload }) => String(payload['text']));
  /** Says something, and waits for the question. @returns its buttons: their labels and data. */
  const begin = async (updateId: number, text: string) => {
    const questions = () => lab.server.of('sendMessage').filter(isQuestion);
    const before = questions().length;
    lab.server.give(messageUpdate({ updateId, text }));
    await lab.until(() => questions().length > before, 'the question is sent');
    const keyboard = questions().at(-1)?.payload['reply_markup'] as Keyboard | undefined; // as the Bot API has it
    return (keyboard?.inline_keyboard ?? [])
      .flat()
      .map(({ text: label, callback_data: data }) => ({ label, data }));
  };
  const ended = (updateId: number) =>
    lab.until(
      () => lab.ends.some((end) => end.updateId === String(updateId)),
      'the turn has ended',
    );
  return { ...lab, ran, texts, begin, ended };
}

interface Keyboard {
  readonly inline_keyboard: readonly { readonly text: string; readonly callback_data: string }[][];
}

function isQuestion({ payload }: { readonly payload: Readonly<Record<string, unknown>> }): boolean {
  return payload['reply_markup'] !== undefined;
}

describe('a question to a human on Telegram', () => {
  it('has inline buttons, and Allow lets the tool run once, however often it is pressed (judgement §4.16, judgement §4.19)', async () => {
    await using lab = await askingLab();
    const [allow, deny, always] = await lab.begin(101, 'v2');
    expect([allow, deny, always].map((one) => one?.label)).toEqual([
      ...['Allow', 'Deny', 'Always for this tool'],
    ]);
    for (const one of [allow, deny, always])
      expect(Buffer.byteLength(one?.data ?? '')).toBeLessThanOrEqual(64);
    expect(lab.ran).toEqual([]);
    await lab.settle(pressUpdate({ updateId: 102, data: allow?.data ?? '' }));
    await lab.ended(101);
    expect(lab.ran).toEqual(['v2']);
    await lab.settle(
      pressUpdate({ updateId: 103, data: allow?.data ?? '' }),
      pressUpdate({ updateId: 104, data: deny?.data ?? '' }),
    );
    expect(lab.ran).toEqual(['v2']);
    expect(
      lab.texts().filter((text) => text === 'This approval is not open any more.'),
    ).toHaveLength(2);
    expect(lab.server.of('answerCallbackQuery')).toHaveLength(3);
    expect(lab.of('agent.starting')).toHaveLength(1); // no agent sees a press
  });

  it('is denied by its second button, and the agent reads so (judgement §4.19)', async () => {
    await using lab = await askingLab();
    const [allow, deny] = await lab.begin(101, 'v2');
    await lab.settle(
      pressUpdate({ updateId: 102, data: deny?.data ?? '' }),
      pressUpdate({ updateId: 103, data: allow?.data ?? '' }),
    );
    await lab.ended(101);
    expect(lab.ran).toEqual([]);
    expect(lab.texts().filter((text) => text.includes('a human denied it'))).toHaveLength(1);
  });

  it('is not answered by the press of a stranger, who is told so (judgement §4.18)', async () => {
    await using lab = await askingLab();
    const [allow, deny] = await lab.begin(101, 'v2');
    await lab.settle(
      pressUpdate({ updateId: 102, data: allow?.data ?? '', more: { from: eve } }),
      pressUpdate({ updateId: 103, data: deny?.data ?? '', more: { from: eve } }),
    );
    const told = lab.texts().filter((text) => text.startsWith('You may not answer this'));
    expect(told).toHaveLength(2);
    expect(lab.ran).toEqual([]);
    await lab.settle(pressUpdate({ updateId: 104, data: allow?.data ?? '' }));
    await lab.ended(101);
    expect(lab.ran).toEqual(['v2']);
  });

  it('is not asked again after its third button, "always" (judgement §4.22)', async () => {
    await using lab = await askingLab();
    const [, , always] = await lab.begin(101, 'v2');
    await lab.settle(pressUpdate({ updateId: 102, data: always?.data ?? '' }));
    await lab.ended(101);
    await lab.settle(messageUpdate({ updateId: 103, text: 'v3' }));
    expect(lab.ran).toEqual(['v2', 'v3']);
  });
});
