import { systemClock } from 'sluice';
import { sendMessage } from 'sluice/chat';
import { expect, it } from 'vitest';
import type { BotApi } from '../src/api/bot-api.js';
import { config } from '../src/config.js';
import { telegramSurface } from '../src/egress/surface.js';

it('begins no further part of a long message when the host does not wait any longer (§14.17)', async () => {
  const waiting = new AbortController();
  const calls: string[] = [];
  const api: BotApi = {
    redact: (text) => text,
    call: async (method) => {
      calls.push(method);
      waiting.abort(); // while the first part is on its way
      return { status: 'done', result: { message_id: 1, chat: { id: 42 } } as never }; // what a send reads of it
    },
  };
  const surface = telegramSurface({ apiOf: () => api, config: config.parse({}) });
  const parts = { surface, clock: systemClock, signal: waiting.signal };
  const message = {
    channel: 'telegram',
    accountId: 'default',
    to: 'telegram:42',
    kind: 'reply' as const,
    streaming: false,
    content: 'word '.repeat(2_000),
    attachments: [],
    metadata: {},
  };
  expect(
    await sendMessage(parts, { take: () => message, attempt: 1, idempotencyKey: 'm' }),
  ).toMatchObject({
    status: 'ambiguous',
    reason: expect.stringContaining('the host does not wait for the rest'),
  });
  expect(calls).toEqual(['sendMessage']);
});
