import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createKernel, silentLogger, systemClock } from 'sluice';
import { createHost } from 'sluice/host';
import { channelConformance, scriptedAgent } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { httpChannel } from '../src/channel.js';
import { config } from '../src/config.js';
import { errorOf, type HttpLab, httpLab } from './http-lab.js';

const secret = 'a secret of some length';
const issue = { id: 7, action: 'opened', issue: { title: 'It burns', user: { login: 'ada' } } };
const mapping = {
  secret,
  idempotencyKey: '{header:x-github-delivery}',
  text: 'Issue {/id}: {/issue/title}',
  sender: '{/issue/user/login}',
  conversation: 'issue-{/id}',
};
const soon = { timeout: 60_000 };

const signed = (body: string, by = secret): string =>
  `sha256=${createHmac('sha256', by).update(body).digest('hex')}`;

function bring(
  { url }: Pick<HttpLab, 'url'>,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/hooks/github`, {
    method: 'POST',
    body: text,
    headers: { 'x-hub-signature-256': signed(text), 'x-github-delivery': 'd-1', ...headers },
  });
}

/** A place that answers are posted to. It drops what it has seen, as its contract says. */
async function receiver() {
  const calls: {
    readonly id: string;
    readonly body: string;
    readonly signature: string;
    readonly at: string;
  }[] = [];
  const next: ('ambiguous' | 'rejected' | 'retry-after')[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const how = next.shift();
      if (how === 'ambiguous') return void request.socket.destroy();
      if (how !== undefined) {
        response.writeHead(how === 'rejected' ? 410 : 429, { 'retry-after': '3' }).end();
        return;
      }
      const header = (name: string): string => String(request.headers[`webhook-${name}`]);
      const id = header('id');
      if (!calls.some((call) => call.id === id))
        calls.push({ id, body, signature: header('signature'), at: header('timestamp') });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port
  return {
    ...{ calls, next, url: `http://127.0.0.1:${port}/answers` },
    texts: () => calls.map(({ body }) => String(Object(JSON.parse(body)).text)),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe('a webhook', () => {
  it('makes a message of a delivery that is signed (http §6.1, http §6.2)', async () => {
    await using lab = await httpLab({ webhooks: { github: mapping } });
    const answer = await bring(lab, issue);
    expect(answer.status).toBe(202);
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    expect(lab.test.of('ingress.normalized')[0]?.payload).toMatchObject({
      content: 'Issue 7: It burns',
      sender: { id: 'hook:github/ada' },
      conversationId: 'http:hook:github/issue-7',
    });
  });

  it.each([
    [
      'of another secret',
      { 'x-hub-signature-256': signed(JSON.stringify(issue), 'another secret!!') },
    ],
    ['of another body', { 'x-hub-signature-256': signed('{}') }],
    ['that is missing', { 'x-hub-signature-256': '' }],
  ])('refuses a signature %s (http §6.1)', async (_, headers) => {
    await using lab = await httpLab({ webhooks: { github: mapping } });
    const answer = await bring(lab, issue, headers);
    expect([answer.status, (await errorOf(answer))['code']]).toEqual([401, 'bad-signature']);
    expect(lab.test.of('ingress.received')).toEqual([]);
  });

  it('checks the bytes of a body as they came (http §6.1)', async () => {
    await using lab = await httpLab({ webhooks: { github: { secret, text: '{/id}' } } });
    const body = Buffer.from(`\ufeff${JSON.stringify(issue)}`);
    const statusOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<number> => {
      const digest = createHmac('sha256', secret).update(body).digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${digest}` };
      const { url } = lab;
      return (await fetch(`${url}/hooks/github`, { method: 'POST', body: bytes, headers })).status;
    };
    expect(await statusOf(new Uint8Array(body))).toBe(202);
    expect(await statusOf(new Uint8Array(body.subarray(3)))).toBe(401);
  });

  it.each([
    ['leaves the body out', { over: '{header:x-id}' }],
    ['leaves the time out', { timestamp: 'x-at', over: '{body}' }],
    ['has no digest in it', { format: 'sha256=' }],
    ['has a secret of few bytes', {}, 'whsec_AAAAAAAAAAAA'],
  ])('does not start with a signature that %s (http §6.1)', (_, signature, key = secret) => {
    const hook = { secret: key, signature, text: 'x' };
    expect(config.safeParse({ webhooks: { hook } }).success).toBe(false);
    expect(config.safeParse({ webhooks: { hook: { secret, text: 'x' } } }).success).toBe(true);
  });

  it('reads signatures of Standard Webhooks, and refuses what was signed at another time, and a replay (http §6.1, http §6.3)', async () => {
    const key = Buffer.from('a key of twenty-four byt');
    const signature = {
      ...{ header: 'webhook-signature', format: 'v1,{base64}', timestamp: 'webhook-timestamp' },
      over: '{header:webhook-id}.{header:webhook-timestamp}.{body}',
    };
    const hook = { secret: `whsec_${key.toString('base64')}`, signature, text: '{/id}' };
    await using lab = await httpLab({ webhooks: { github: hook } });
    const body = JSON.stringify(issue);
    const statusAt = async (atMs: number): Promise<number> => {
      const at = String(Math.floor(atMs / 1_000));
      const mac = createHmac('sha256', key).update(`m-1.${at}.${body}`).digest('base64');
      const headers = { 'webhook-id': 'm-1', 'webhook-timestamp': at };
      return (await bring(lab, body, { ...headers, 'webhook-signature': `v1,AAAA v1,${mac}` }))
        .status;
    };
    const nowMs = lab.test.clock.now();
    expect(await statusAt(nowMs)).toBe(202);
    expect(await statusAt(nowMs - 299_000)).toBe(202);
    expect(await statusAt(nowMs - 301_000)).toBe(401);
    expect(await statusAt(nowMs + 302_000)).toBe(401);
    expect(await statusAt(Number.NaN)).toBe(401);
    expect(await statusAt(nowMs)).toBe(202); // somebody brings what he has heard again
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(2), soon);
    expect(lab.test.of('ingress.received')).toHaveLength(2);
  });

  it('handles a delivery once (http §6.3)', async () => {
    await using lab = await httpLab({ webhooks: { github: mapping } });
    const statuses = [];
    for (const [id, what] of [
      ['d-1', issue],
      ['d-1', issue],
      ['d-2', { ...issue, id: 8 }],
    ] as const)
      statuses.push((await bring(lab, what, { 'x-github-delivery': id })).status);
    expect(statuses).toEqual([202, 202, 202]);
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(2), soon);
    expect(lab.test.of('ingress.received')).toHaveLength(2);
  });

  it('handles a copy under another key once, if the key is not signed (http §6.3)', async () => {
    await using lab = await httpLab({ webhooks: { github: mapping } });
    const ids = [];
    for (const id of ['d-1', 'd-2', 'd-3'])
      ids.push(Object(await (await bring(lab, issue, { 'x-github-delivery': id })).json()).id);
    expect(new Set(ids).size).toBe(1);
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    const over = '{header:X-GitHub-Delivery}.{body}';
    const hook = { ...mapping, signature: { over } };
    await using other = await httpLab({ webhooks: { github: hook } });
    for (const id of ['d-1', 'd-2']) {
      const signature = signed(`${id}.${JSON.stringify(issue)}`);
      await bring(other, issue, { 'x-github-delivery': id, 'x-hub-signature-256': signature });
    }
    await vi.waitFor(() => expect(other.test.ends).toHaveLength(2), soon);
  });

  it.each([
    ['lacks a field of the mapping', { id: 7 }, {}, 'the delivery lacks {/issue/title}'],
    ['is no JSON', 'id=7', {}, 'the delivery lacks {/id}'],
  ])(
    'answers one that %s with 400, a code and its event (http §2.7)',
    async (_, body, headers, why) => {
      await using lab = await httpLab({
        webhooks: { github: { ...mapping, text: '{/issue/title}' } },
      });
      const answer = await bring(lab, body, headers);
      expect(answer.status).toBe(400);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: 'undecodable', message: why });
      expect(error['event_id']).toBe(lab.test.ends[0]?.correlationId);
    },
  );

  it('gives no commands (http §2.5)', async () => {
    await using place = await receiver();
    const callback = { url: place.url, secret };
    await using lab = await httpLab({
      webhooks: { github: { ...mapping, text: '\n/help', callback } },
    });
    await bring(lab, issue);
    await vi.waitFor(() => expect(place.texts()).toEqual(['You may not use "/help".']), soon);
  });

  it('answers nobody without a callback, and says so (http §6.4)', async () => {
    await using lab = await httpLab({ webhooks: { github: mapping } });
    await bring(lab, issue);
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    expect(lab.test.ends).toMatchObject([{ status: 'cancelled', reason: 'http/unasked: policy' }]);
  });

  it('posts its answer to the callback, signed (http §6.5)', async () => {
    await using place = await receiver();
    const callback = { url: place.url, secret };
    await using lab = await httpLab({ webhooks: { github: { ...mapping, callback } } });
    const { id } = Object(await (await bring(lab, issue)).json());
    await vi.waitFor(() => expect(place.calls).toHaveLength(1), soon);
    const [call] = place.calls;
    expect(JSON.parse(call?.body ?? '')).toMatchObject({
      ...{ id: call?.id, text: 'Issue 7: It burns', in_reply_to: id },
      conversation: 'http:hook:github/issue-7',
    });
    const mac = createHmac('sha256', secret).update(`${call?.id}.${call?.at}.${call?.body}`);
    expect(call?.signature).toBe(`v1,${mac.digest('base64')}`);
  });

  it('calls again if nobody knows the end, under the same id (http §6.5)', async () => {
    await using place = await receiver();
    place.next.push('ambiguous');
    const callback = { url: place.url, secret };
    await using lab = await httpLab({ webhooks: { github: { ...mapping, callback } } });
    await bring(lab, issue);
    await vi.waitFor(() => expect(lab.test.ends).toMatchObject([{ status: 'answered' }]), soon);
    expect(lab.test.of('egress.sent')).toMatchObject([{ payload: { attempt: 2 } }]);
    expect(place.calls).toHaveLength(1);
  });
});

describe('an account that is started again', () => {
  it('posts its answers to the callback as before (http §6.5)', async () => {
    await using place = await receiver();
    const hook = { ...mapping, callback: { url: place.url, secret } };
    const channel = httpChannel({
      config: config.parse({ port: 0, webhooks: { github: hook } }),
      ...{ clock: systemClock, log: silentLogger },
      store: { update: async (_: string, change: () => unknown) => change() } as never, // a webhook has no answers to keep
    });
    const agents = [{ id: 'main', provider: scriptedAgent([['Seen.']]) }];
    for (const at of [1, 2]) {
      const kernel = createKernel();
      const attempts: (number | undefined)[] = [];
      kernel.contribute({
        ...{ extensionId: 'test', id: 'sent', class: 'observer', family: 'egress.sent' },
        handler: ({ payload }) => void attempts.push(payload.attempt),
      });
      const host = createHost({ agents, channels: [channel], kernel });
      await host.start();
      await bring(
        { url: channel.url ?? '' },
        { ...issue, id: at },
        { 'x-github-delivery': `d-${at}` },
      );
      await vi.waitFor(() => expect(place.calls).toHaveLength(at), soon);
      await host.stop();
      expect(attempts).toEqual([1]);
    }
  });
});

describe('the rules of a channel, by a webhook with a callback', () => {
  for (const { name, run } of channelConformance(async () => {
    const place = await receiver();
    const callback = { url: place.url, secret };
    const hook = { secret, callback, idempotencyKey: '{/key}', text: '{/text}' };
    const channel = httpChannel({
      config: config.parse({ port: 0, webhooks: { github: hook } }),
      ...{ clock: systemClock, log: silentLogger },
      store: { update: async (_: string, change: () => unknown) => change() } as never, // a webhook has no answers to keep
    });
    return {
      ...{ channel, to: 'http:hook:github/all', shown: place.texts },
      failNext: (how) => void place.next.push(how),
      deliver: async (text: string, key: string) => {
        if (channel.url !== undefined) await bring({ url: channel.url }, { text, key });
        await pause(0);
      },
      [Symbol.asyncDispose]: place[Symbol.asyncDispose],
    };
  }))
    it(name, run);
});
