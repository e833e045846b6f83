import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PayloadOf } from '../../src/kernel/internal.js';
import { blocked, type Fault, tooMany } from '../support/bot-api/fault.js';
import { type TelegramLab, telegramLab } from '../support/telegram-lab.js';

type Attachment = PayloadOf<'egress.preparing'>['attachments'][number];

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-media-'));
  await writeFile(join(folder, 'chart.png'), 'not really');
  await writeFile(join(folder, 'secret.txt'), 'nobody may have this');
  await symlink('/etc/hostname', join(folder, 'link.txt'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Sends one message with files, of the host's own. */
async function send(
  attachments: readonly Attachment[],
  {
    content = 'Here.',
    settings = {},
    faults = [],
  }: {
    readonly content?: string;
    readonly settings?: object;
    readonly faults?: readonly Fault[];
  } = {},
): Promise<{
  readonly lab: TelegramLab;
  readonly status: string;
  readonly error?: string | undefined;
}> {
  const lab = await telegramLab({
    settings,
    contribute: (kernel) =>
      kernel.contribute({
        family: 'egress.preparing',
        class: 'mutator',
        extensionId: 'test',
        id: 'attach',
        handler: () => ({ attachments: [...attachments] }),
      }),
  });
  for (const method of ['sendPhoto', 'sendDocument']) lab.server.fault(method, ...faults);
  let report: { readonly status: string; readonly error?: string } | undefined;
  void lab.host
    .send({ channel: 'telegram', accountId: 'default', to: 'telegram:-1005:topic:7', content })
    .then((one) => {
      report = one;
    });
  await lab.until(() => report !== undefined, 'it has ended');
  return { lab, status: report?.status ?? '', error: report?.error };
}

describe('files', () => {
  it.each<[string, Attachment, string, string]>([
    [
      'a picture on the web',
      { kind: 'image', url: 'https://a.example/x' },
      'photo',
      'https://a.example/x',
    ],
    [
      'a picture by the end of its address',
      { kind: 'other', url: 'https://a.example/x.PNG?y=1' },
      'photo',
      'https://a.example/x.PNG?y=1',
    ],
    ['a file that Telegram has', { kind: 'document', id: 'file-1' }, 'document', 'file-1'],
    [
      'a voice note',
      { kind: 'audio', url: 'https://a.example/v.ogg', asVoice: true },
      'voice',
      'https://a.example/v.ogg',
    ],
    [
      'an animation',
      { kind: 'other', url: 'https://a.example/a.gif' },
      'animation',
      'https://a.example/a.gif',
    ],
    [
      'anything else',
      { kind: 'other', url: 'https://a.example/a.zip' },
      'document',
      'https://a.example/a.zip',
    ],
  ])(
    '%s goes out as what it is, with the text under it, in its topic',
    async (_, file, field, source) => {
      const { lab, status } = await send([file]);
      await using _lab = lab;
      expect(status).toBe('sent');
      expect(lab.server.shown).toEqual([
        {
          messageId: 1_001,
          chatId: -1_005,
          threadId: 7,
          text: 'Here.',
          html: false,
          media: { field, source },
        },
      ]);
    },
  );

  it('that lie in a folder which the settings name are uploaded', async () => {
    const settings = { mediaRoots: [folder] };
    const { lab, status } = await send([{ kind: 'image', path: join(folder, 'chart.png') }], {
      settings,
    });
    await using _lab = lab;
    expect(status).toBe('sent');
    expect(lab.server.shown).toMatchObject([
      { media: { field: 'photo', source: 'file chart.png' }, text: 'Here.' },
    ]);
  });

  it.each([
    ['elsewhere', () => '/etc/hostname'],
    ['reached by a way up', () => join(folder, '..', 'x', '..', 'hostname')],
    ['reached by a link', () => join(folder, 'link.txt')],
    ['not there', () => join(folder, 'none.png')],
  ])('that are %s are not sent, and neither is their message', async (_, path) => {
    const settings = { mediaRoots: [folder] };
    const { lab, status, error } = await send([{ kind: 'other', path: path() }], { settings });
    await using _lab = lab;
    expect(status).toBe('failed');
    expect(error).toMatch(/does not lie in one of config\.mediaRoots/);
    expect(lab.server.shown).toEqual([]);
  });

  it('are not read from disk at all where the settings name no folder', async () => {
    const { lab, error } = await send([{ kind: 'other', url: join(folder, 'secret.txt') }]);
    await using _lab = lab;
    expect(error).toMatch(/mediaRoots/);
    expect(lab.server.shown).toEqual([]);
  });

  it('with a text that is too long for one stand after it', async () => {
    const { lab } = await send([{ kind: 'image', id: 'p' }], { content: 'a'.repeat(1_025) });
    await using _lab = lab;
    expect(lab.server.shown.map(({ text, media }) => [text.length, media?.field])).toEqual([
      [1_025, undefined],
      [0, 'photo'],
    ]);
  });

  it('that are several go one by one; what breaks off says how much is out', async () => {
    const both = [
      { kind: 'image', id: 'p' },
      { kind: 'document', id: 'd' },
    ] as const;
    const { lab, status, error } = await send(both, { faults: [{ pass: true }] });
    await using _lab = lab;
    expect(status).toBe('sent');
    expect(error).toBeUndefined();
    expect(lab.server.shown.map(({ media }) => media?.source)).toEqual(['p', 'd']);
    expect(lab.of('egress.sent')[0]?.payload.receipt).toMatchObject({
      messageIds: ['1001', '1002'],
    });
  });

  it('wait as texts do', async () => {
    const { lab, status } = await send([{ kind: 'image', id: 'p' }], { faults: [tooMany(2)] });
    await using _lab = lab;
    expect(status).toBe('sent');
    expect(lab.server.of('sendPhoto')).toHaveLength(2);
    const refused = await send([{ kind: 'image', id: 'p' }], { faults: [blocked] });
    await using _refused = refused.lab;
    expect(refused.error).toMatch(/^403/);
  });
});

it('an address that is none is refused before anything is sent', async () => {
  await using lab = await telegramLab();
  let error: string | undefined;
  void lab.host
    .send({ channel: 'telegram', accountId: 'default', to: 'slash:42', content: 'x' })
    .then((report) => {
      error = report.error;
    });
  await lab.until(() => error !== undefined, 'it has ended');
  expect(error).toBe('"slash:42" is no address of Telegram');
  expect(lab.server.of('sendMessage')).toEqual([]);
});
