import { describe, expect, it } from 'vitest';
import { defineExtension, type Question, type QuestionEnd } from '../../src/sdk/extension/index.js';
import { messageUpdate, pressUpdate } from '../support/bot-api/updates.js';
import { telegramLab } from '../support/telegram-lab.js';

const ada = { channel: 'telegram', to: 'telegram:42' };
const deploy = { content: 'Deploy?', options: ['Yes', 'Not now'] };

/** A host on Telegram whose extension asks `deploy`; each version of it notes the ends that it gets. */
async function askingLab() {
  const ends: { readonly version: number; readonly end: QuestionEnd<number> }[] = [];
  let version = 0;
  let question: Question<number> | undefined;
  const extension = defineExtension({
    id: 'asking',
    setup: (api) => {
      const own = ++version;
      question = api.question<number>('deploy', (end) => void ends.push({ version: own, end }));
    },
  });
  const lab = await telegramLab({ extensions: [{ extension }] });
  const ask = async (build: number): Promise<readonly (readonly [string, string])[]> => {
    await question?.ask(ada, deploy, { data: build });
    await lab.until(() => lab.server.of('sendMessage').length > 0, 'the question is sent');
    const markup = lab.server.of('sendMessage').at(-1)?.payload['reply_markup'];
    const { inline_keyboard: rows } = markup as {
      readonly inline_keyboard: readonly {
        readonly text: string;
        readonly callback_data: string;
      }[][];
    };
    return rows.flat().map(({ text, callback_data: data }) => [text, data] as const);
  };
  return { ...lab, ask, ends, heard: () => lab.until(() => ends.length > 0, 'it has its end') };
}

describe('a question on Telegram', () => {
  it('has inline buttons, and the press of one is its answer, once (extensions-that-act §7.4, extensions-that-act §7.6)', async () => {
    await using lab = await askingLab();
    const buttons = await lab.ask(7);
    expect(buttons.map(([label]) => label)).toEqual(['Yes', 'Not now']);
    const [yes = '', no = ''] = buttons.map(([, data]) => data);
    for (const data of [yes, no]) expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
    await lab.settle(
      pressUpdate({ updateId: 101, data: no }),
      pressUpdate({ updateId: 102, data: yes }),
    );
    await lab.heard();
    expect(lab.ends).toMatchObject([
      { end: { status: 'answered', answer: 'Not now', data: 7, from: { id: '42' }, place: ada } },
    ]);
    expect(lab.ends).toHaveLength(1);
    expect(lab.of('agent.starting')).toEqual([]); // no agent sees a press
    expect(lab.server.of('answerCallbackQuery')).toHaveLength(2);
  });

  it('is answered by a text of its conversation, which no agent sees (extensions-that-act §7.4)', async () => {
    await using lab = await askingLab();
    await lab.ask(7);
    await lab.settle(messageUpdate({ updateId: 101, text: 'not now' }));
    await lab.heard();
    expect(lab.ends).toMatchObject([{ end: { status: 'answered', answer: 'Not now' } }]);
    expect(lab.of('agent.starting')).toEqual([]);
  });

  it('has its answer handled by the version of today, if its extension was reloaded while it was open (extensions-that-act §7.1)', async () => {
    await using lab = await askingLab();
    const [[, yes = ''] = []] = await lab.ask(7);
    expect(await lab.host.reload('asking')).toMatchObject([{ result: 'reloaded' }]);
    await lab.settle(pressUpdate({ updateId: 101, data: yes }));
    await lab.heard();
    expect(lab.ends).toMatchObject([{ version: 2, end: { answer: 'Yes', data: 7 } }]);
  });
});
