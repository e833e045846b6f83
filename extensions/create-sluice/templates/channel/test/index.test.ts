import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { channelConformance } from 'sluice/testing';
import { describe, expect, it, test } from 'vitest';
import { channel } from '../src/index.js';

/** The channel, and the other side of it: a server that takes the replies. */
async function lab(token?: string) {
  const shown: string[] = [];
  const next: { status: number; retryAfter?: string }[] = [];
  const replies = createServer(async (request, response) => {
    const { text } = (await json(request)) as { text: string };
    const { status, retryAfter } = next.shift() ?? { status: 200 };
    if (status === 200) shown.push(text);
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.writeHead(status).end();
  });
  await once(replies.listen(0, '127.0.0.1'), 'listening');
  const { port } = replies.address() as AddressInfo;
  const replyUrl = `http://127.0.0.1:${port}/`;
  const made = channel({ port: 0, replyUrl, ...(token !== undefined && { token }) });
  const answers = { ambiguous: { status: 502 }, rejected: { status: 403 } };
  return {
    channel: made,
    to: 'ada',
    shown: () => shown,
    deliver: (text: string, id: string, headers = {}) =>
      fetch(`http://127.0.0.1:${made.port()}/`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ id, from: 'ada', text }),
      }),
    failNext: (how: 'ambiguous' | 'rejected' | 'retry-after') =>
      void next.push(how === 'retry-after' ? { status: 429, retryAfter: '2' } : answers[how]),
    [Symbol.asyncDispose]: async () => {
      replies.close();
      replies.closeAllConnections();
    },
  };
}

describe('the rules of a channel', () => {
  for (const { name, run } of channelConformance(() => lab(), { complete: true })) it(name, run);
});

test('a message without the token is not taken in', async () => {
  await using subject = await lab('the token');
  const updates: unknown[] = [];
  await subject.channel.startAccount('default', {
    receive: async (update) => void updates.push(update),
    ended: () => undefined,
  });
  const bare = await subject.deliver('hello', '1');
  const right = await subject.deliver('hello', '2', { authorization: 'Bearer the token' });
  expect([bare.status, right.status, updates.length]).toEqual([401, 202, 1]);
  await subject.channel.stopAccount('default');
});
