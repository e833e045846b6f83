import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Kernel, PayloadOf } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { said as saidOnSlack } from '../../support/slack-api/envelopes.js';
import { slackLab } from '../../support/slack-lab.js';
import { slowly } from '../../support/slowly.js';
import { end, said, start } from '../../support/turn-lab.js';

const whole = { settings: { streaming: false } };
const toAda = { channel: 'slack', accountId: 'default', to: 'D001' };

type Attachment = PayloadOf<'egress.preparing'>['attachments'][number];

/** Gives each message that goes out a file. */
const attaching = (attachment: Attachment) => (kernel: Kernel) =>
  kernel.contribute({
    family: 'egress.preparing',
    class: 'mutator',
    extensionId: 'test',
    id: 'attach',
    handler: () => ({ attachments: [attachment] }),
  });

describe('the words of a message on Slack', () => {
  it('all go out if their blocks are refused, also above buttons', async () => {
    await using lab = await slackLab(whole);
    lab.server.fault('chat.postMessage', { error: 'invalid_blocks' });
    const words = Array.from({ length: 640 }, (_, at) => `w${String(at).padStart(4, '0')}`);
    const interactive = { buttons: [{ id: 'go', label: 'Go' }] };
    const sending = lab.host.send({ ...toAda, content: words.join(' '), interactive });
    await lab.until(() => lab.server.of('chat.postMessage').length === 2, 'it is made again');
    expect(await sending).toMatchObject({ status: 'sent' });
    const [shown] = lab.server.shown;
    expect(shown?.text.split(/\s/)).toEqual(words);
    expect(shown?.blocks.map(({ type }) => type)).toEqual(['section', 'section', 'actions']);
  });

  it('all go out beside files, and a picture that Slack cannot fetch is an address', async () => {
    const words = Array.from({ length: 300 }, (_, at) => `w${String(at).padStart(4, '0')}`);
    const caption = words.join(' ');
    await using lab = await slackLab({
      ...whole,
      contribute: attaching({ kind: 'image', url: 'https://x.y/z.png', caption }),
    });
    lab.server.fault('chat.postMessage', { pass: true }, { error: 'invalid_blocks' });
    await lab.settle(saidOnSlack(1, 'hello'));
    const [, ...more] = lab.server.shown.map(({ text }) => text);
    expect(more.join(' ').split(/\s/)).toEqual([
      ...words.slice(0, 166),
      'https://x.y/z.png',
      ...words.slice(166),
    ]);
  });

  it('about a file that Slack shows as a link go out under it', async () => {
    await using lab = await slackLab({
      ...whole,
      contribute: attaching({
        ...{ kind: 'document', url: 'https://x.y/z.pdf', name: '', caption: 'the plan' },
      }),
    });
    await lab.settle(saidOnSlack(1, 'hello'));
    const texts = lab.server.shown.map(({ text }) => text);
    expect(texts).toEqual(['hello', 'https://x.y/z.pdf', 'the plan']);
  });

  it('are not sent where a file cannot be read: the send is refused, and no end is unknown', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-slack-'));
    try {
      const inside = await mkdtemp(join(folder, 'a-folder-'));
      await using lab = await slackLab({
        settings: { streaming: false, mediaRoots: [folder] },
        contribute: attaching({ kind: 'document', path: inside, name: 'plan' }),
      });
      const sending = lab.host.send({ ...toAda, content: '' });
      await lab.until(() => lab.of('egress.failed').length === 1, 'it has failed');
      expect((await sending).error).toContain('the file plan cannot be read');
      expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'rejected' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each([false, true])(
    'call nobody, and have no half of a character (streamed: %s)',
    async (streaming) => {
      const clock = virtualClock();
      const text = '<!channel> @channel <@U00ADA> \ud83d and [x](https://x.y) more';
      const events = () => [start, ...said(text), end()];
      await using lab = await slackLab({
        ...{ clock, settings: { streaming } },
        agents: [{ id: 'main', provider: slowly(clock, events, 700) }],
      });
      await lab.settle(saidOnSlack(1, 'hello'));
      const calls = [...lab.server.of('chat.postMessage'), ...lab.server.of('chat.update')];
      expect(calls.length).toBeGreaterThanOrEqual(streaming ? 2 : 1);
      for (const { payload } of calls) {
        expect(payload).toMatchObject({ parse: 'none', link_names: 'false' });
        expect(payload['text']).not.toMatch(/<[!@]/);
        expect(payload['blocks']).not.toMatch(/\\ud83d/i);
      }
      const [shown] = lab.server.shown;
      expect(shown?.text).toBe('<!channel> @channel <@U00ADA> \ufffd and x more');
    },
  );
});

it('two streams of an app share the edits that Slack allows it', async () => {
  const clock = virtualClock();
  const answer = Array.from({ length: 60 }, (_, at) => `w${at}`).join(' ');
  const provider = slowly(clock, () => [start, ...said(answer), end()], 100);
  await using lab = await slackLab({ clock, agents: [{ id: 'main', provider }] });
  const editedAtMs: number[] = [];
  lab.server.onCall = (method, when) => {
    if (method === 'chat.update' && when === 'before') editedAtMs.push(clock.now());
  };
  await lab.settle(saidOnSlack(1, 'hello'), saidOnSlack(2, 'hi', { channel: 'D002' }));
  const grown = editedAtMs.slice(0, -2); // the finals do not wait
  expect(grown.length).toBeGreaterThan(2);
  const gaps = grown.slice(1).map((at, index) => at - (grown[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_100);
  expect(lab.server.shown.map(({ text }) => text)).toEqual([answer, answer]);
});
