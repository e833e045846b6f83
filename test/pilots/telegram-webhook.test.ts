import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { config } from '../../extensions/telegram/src/config.js';
import { decodeUpdate } from '../../extensions/telegram/src/ingress/decode.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { telegramLab } from '../support/telegram-lab.js';

describe('a bot with a webhook', () => {
  const secret = 'a-secret-of-these-tests';
  const webhook = { url: 'https://bots.example/telegram', port: 0, secret };

  it('tells Telegram where to bring updates, takes them there, and answers when they are done with', async () => {
    await using lab = await telegramLab({ settings: { webhook } });
    expect(lab.server.webhook).toEqual({ url: webhook.url, secret });
    expect(lab.server.of('getUpdates')).toEqual([]);
    const port = lab.channel.account('default')?.port;
    let status = 0;
    void fetch(`http://127.0.0.1:${port}/telegram`, {
      method: 'POST',
      headers: { 'x-telegram-bot-api-secret-token': secret },
      body: JSON.stringify(messageUpdate({ updateId: 101, text: 'hello' })),
    }).then((response) => {
      status = response.status;
    });
    await lab.until(() => status !== 0, 'it is answered');
    expect(status).toBe(200);
    expect(lab.ends).toMatchObject([{ updateId: '101', status: 'answered' }]);
    expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
  });

  it.each([
    [
      'without a secret',
      { ...webhook, secret: undefined },
      /needs a secret: set TELEGRAM_WEBHOOK_SECRET/,
    ],
    ['with a secret that anybody can guess', { ...webhook, secret: 'short' }, /16 to 256 letters/],
  ])('%s does not start', async (_, { secret: given, ...rest }, problem) => {
    const settings = { webhook: { ...rest, ...(given !== undefined && { secret: given }) } };
    await expect(telegramLab({ settings })).rejects.toThrow(problem);
  });
});

describe('samples of the Bot API that others have published', () => {
  const samples = (name: string): object[] =>
    readFileSync(new URL(`../fixtures/telegram/${name}.jsonl`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  const decode = (update: unknown) =>
    decodeUpdate(update, {
      accountId: 'default',
      bot: { id: 7, username: 'lima_bot' },
      config: config.parse({ requireMention: false }),
    });

  it('are decoded as what they are', () => {
    const kinds = samples('updates').map((update) => {
      const decoded = decode(update);
      return decoded.kind === 'message' ? `message ${decoded.message.content}` : decoded.kind;
    });
    expect(kinds).toEqual(['message hello there', 'message 4', 'command', 'ignored', 'ignored']);
    const messages = samples('messages').map((message, at) => decode({ update_id: at, message }));
    expect(messages).toMatchObject([
      { kind: 'message', message: { content: 'Лол кек 😂', sender: { name: 'Имя Фамилия' } } },
      { kind: 'message', message: { attachments: [{ kind: 'image', sizeBytes: 75_245 }] } },
      { kind: 'ignored', reason: 'a message without text or file' },
    ]);
  });
});
