import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, describe, expect, it } from 'vitest';
import { Relay } from '../../../extensions/guard/src/mcp/relay.js';
import { UrlTransport } from '../../../extensions/guard/src/mcp/url.js';
import { systemClock } from '../../../src/kernel/index.js';
import { allow, optionsWith, type Said, type TestJudge, text, within } from './mcp-lab.js';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Serve = (message: Said, response: ServerResponse, request: IncomingMessage) => unknown;

/** A proxy before a server of HTTP that does what a test says. */
async function urlLab(serve: Serve, judge: TestJudge = allow) {
  const requests: { readonly method: string; readonly headers: IncomingMessage['headers'] }[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const message: Said = body === '' ? {} : JSON.parse(body);
    requests.push({
      method: String(message['method'] ?? request.method),
      headers: request.headers,
    });
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (message['id'] === undefined) return response.writeHead(202).end();
    return serve(message, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo; // it listens on a port
  const { options, warnings } = optionsWith(judge, {
    ...within({ maxBytes: 100_000 }),
    clock: systemClock,
  });
  const [client, near] = InMemoryTransport.createLinkedPair();
  const to = { url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-key': 'a key' } };
  const far = new UrlTransport(to, options, (id, why) => relay.fail('client', id, why));
  const relay = new Relay(near, far, options);
  const got: Said[] = [];
  client.onmessage = (message) => void got.push(message);
  await relay.start();
  closing.push(() => relay.end('client'));
  const say = (message: Said) => client.send({ jsonrpc: '2.0', id: 1, method: 'ping', ...message });
  return { say, got, requests, warnings, server, relay };
}

const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (message: Said) =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const failed = (words: RegExp) => [
  { jsonrpc: '2.0', id: 1, error: { code: -32000, message: expect.stringMatching(words) } },
];

describe('a server of HTTP', () => {
  it('answers in a stream or with JSON, and gets its headers, its session and its version', async () => {
    const { say, got, requests, relay } = await urlLab(({ id, method, params }, response) => {
      const result = { protocolVersion: Object(params).protocolVersion };
      if (method !== 'initialize')
        return stream(response).end(event({ id, result: text('hello') }));
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'a session' };
      return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await say({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
    await expect.poll(() => got).toHaveLength(1);
    await say({ id: 2, method: 'tools/call', params: { name: 'one' } });
    await expect.poll(() => got.at(1)).toMatchObject({ id: 2, result: text('hello') });
    await relay.end('client');
    const headers = {
      ...{ 'x-key': 'a key', 'mcp-session-id': 'a session', 'mcp-protocol-version': '2025-06-18' },
    };
    expect(requests).toMatchObject([
      { method: 'initialize', headers: { 'x-key': 'a key' } },
      { method: 'tools/call', headers },
      { method: 'DELETE', headers },
    ]);
  });

  it('takes other requests while one is open', async () => {
    let first: (() => void) | undefined;
    const { say, got } = await urlLab(({ id }, response) => {
      if (id === 1) first = () => stream(response).end(event({ id, result: {} }));
      else stream(response).end(event({ id, result: {} }));
    });
    await say({ id: 1 });
    await say({ id: 2 });
    await expect.poll(() => got).toHaveLength(1);
    first?.();
    await expect.poll(() => got.map(({ id }) => id)).toEqual([2, 1]);
  });

  it.each<[string, Serve, RegExp]>([
    [
      'ends its stream without an answer',
      (_, response) => stream(response).end(': on\n\n'),
      /the stream of the server has ended/,
    ],
    [
      'cuts its stream',
      (_, response) => stream(response).write(': on', () => response.destroy()),
      /the stream of the server has ended/,
    ],
    ['cuts the connection', (_, response) => response.destroy(), /fetch failed/],
    ['refuses', (_, response) => response.writeHead(404).end('no such session'), /no such session/],
    [
      'answers in another language',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /content type/i,
    ],
    [
      'answers with a stream of bytes without an end',
      (_, response) => {
        stream(response).write('data: ');
        const more = () => void (response.destroyed || response.write('x'.repeat(50_000), more));
        more();
      },
      /the stream of the server has ended/,
    ],
    [
      'answers with JSON that is too large',
      (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: text('x'.repeat(200_000)) })),
      /larger than 100000/,
    ],
  ])(
    'that %s: the request has an error for an answer, and the next one goes its way',
    async (_, serve, words) => {
      const { say, got } = await urlLab((message, response, request) =>
        message['id'] === 1
          ? serve(message, response, request)
          : stream(response).end(event({ id: message['id'], result: {} })),
      );
      await say({ id: 1 });
      await expect.poll(() => got).toEqual(failed(words));
      await say({ id: 2 });
      await expect.poll(() => got.at(1)).toMatchObject({ id: 2, result: {} });
    },
  );

  it.each<[string, Serve]>([
    ['an error of HTTP', (_, response) => response.writeHead(500).end('the key is SECRET')],
    [
      'an answer that is no JSON',
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('SECRET'),
    ],
  ])('that answers a call with %s: its words are judged like a result', async (_, serve) => {
    const { say, got } = await urlLab(serve, (point) =>
      point === 'agent.tool.calling'
        ? { status: 'allowed' }
        : { status: 'refused', reason: 'withheld' },
    );
    await say({ method: 'tools/call', params: { name: 'one' } });
    await expect.poll(() => got).toEqual(failed(/^withheld$/));
  });

  it('that is not there: each request has an error for an answer', async () => {
    const { say, got, server } = await urlLab(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    await say({ id: 1 });
    await expect.poll(() => got).toEqual(failed(/ECONNREFUSED/));
  });
});
