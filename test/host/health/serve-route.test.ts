import { type IncomingHttpHeaders, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type HealthServerOptions,
  type HttpRoute,
  startHealthServer,
} from '../../../src/host/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { startTestHost } from '../../../src/testing/index.js';
import { deferred } from '../../support/kernel-lab.js';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks a port, as a client that knows nothing of the web's own types. */
function ask(
  url: string,
  { method = 'GET', headers = {}, body = '' as string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
      response.on('error', reject);
    });
    asked.on('error', reject).end(body);
  });
}

async function served(...routes: readonly HttpRoute[]) {
  return servedAs({}, ...routes);
}

async function servedAs(
  names: Pick<HealthServerOptions, 'hosts'>,
  ...routes: readonly HttpRoute[]
) {
  const acme = defineExtension({
    id: 'acme',
    setup: (api) => {
      for (const route of routes) api.provide('route', route);
    },
  });
  const test = await startTestHost({ extensions: [acme] });
  const server = await startHealthServer(test.host, { port: 0, ...names });
  return {
    test,
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}

const echo: HttpRoute = {
  method: 'POST',
  path: '/echo',
  maxBodyBytes: 10,
  handler: async (request) => new Response(await request.text()),
};

describe('the routes at the health port (extensions-that-act §9)', () => {
  it('answer beside /healthz and /readyz, with headers, cookies and a status of their own', async () => {
    await using lab = await served({
      method: 'GET',
      path: '/page',
      handler: ({ url, headers }) => {
        const answer = new Response(`${url} ${headers.get('x-own')}`, { status: 202 });
        answer.headers.append('set-cookie', 'a=1');
        answer.headers.append('set-cookie', 'b=2');
        answer.headers.set('content-type', 'text/own');
        return answer;
      },
    });
    const answer = await ask(`${lab.url}/page?q=1`, { headers: { 'x-own': 'mine' } });
    expect(answer).toMatchObject({
      status: 202,
      body: `${lab.url}/page?q=1 mine`,
      headers: { 'set-cookie': ['a=1', 'b=2'], 'content-type': 'text/own', connection: 'close' },
    });
    expect((await ask(`${lab.url}/healthz`)).status).toBe(200);
    expect((await ask(`${lab.url}/other`)).status).toBe(404);
    expect((await ask(`${lab.url}/page`, { method: 'PUT' })).status).toBe(405);
  });

  it('take a body as large as they say, and no larger (extensions-that-act §9.3)', async () => {
    await using lab = await served(echo);
    const post = (body: string, headers = {}) =>
      ask(`${lab.url}/echo`, { method: 'POST', body, headers });
    expect(await post('0123456789')).toMatchObject({ status: 200, body: '0123456789' });
    expect((await post('0123456789a')).status).toBe(413);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await post('0123456789', chunked)).body).toBe('0123456789');
    expect((await post('0123456789a', chunked)).status).toBe(413);
  });

  it('refuse a method that no route can have (extensions-that-act §9.1)', async () => {
    await using host = await served(echo);
    const { status, headers } = await ask(`${host.url}/echo`, { method: 'TRACE' });
    expect([status, headers.allow]).toEqual([405, 'POST']);
  });

  it('give the bytes of a body as they came', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    await using lab = await served({
      method: 'PUT',
      path: '/bytes',
      handler: async (request) =>
        new Response(Buffer.from(await request.arrayBuffer()).toString('hex')),
    });
    const answer = await ask(`${lab.url}/bytes`, { method: 'PUT', body: bytes });
    expect(answer.body).toBe(bytes.toString('hex'));
  });

  it('answer no page whose name was made to point here, nor what a page of another site has sent (extensions-that-act §9.3)', async () => {
    await using lab = await served(echo);
    const post = async (headers: Record<string, string>) =>
      (await ask(`${lab.url}/echo`, { method: 'POST', body: 'hi', headers })).status;
    expect(await post({ host: 'evil.example' })).toBe(421);
    expect(await post({ origin: 'https://evil.example' })).toBe(403);
    expect(await post({ origin: 'null' })).toBe(403);
    expect(await post({ origin: 'http://localhost:1' })).toBe(403); // another server of this machine
    expect(await post({ origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await post({ origin: lab.url })).toBe(200);
  });

  it('answer the pages of a name that a proxy passes on (extensions-that-act §9.3)', async () => {
    await using lab = await servedAs({ hosts: ['status.example.org'] }, echo);
    const headers = { origin: 'https://status.example.org' };
    const answer = await ask(`${lab.url}/echo`, { method: 'POST', body: 'hi', headers });
    expect(answer.status).toBe(200);
  });

  it('have their signal aborted when the client has gone (extensions-that-act §9.4)', async () => {
    const began = deferred();
    const gone = deferred();
    await using lab = await served({
      method: 'GET',
      path: '/slow',
      handler: ({ signal }) => {
        signal.addEventListener('abort', () => gone.resolve());
        began.resolve();
        return new Promise(() => undefined);
      },
    });
    const asked = request(`${lab.url}/slow`, { agent: false });
    asked.on('error', () => undefined).end();
    await began.promise;
    asked.destroy();
    await gone.promise;
  });

  it('break an answer off whose body fails, so that the client sees it', async () => {
    await using lab = await served({
      method: 'GET',
      path: '/broken',
      handler: () => {
        const parts = ['a part'];
        const body = new ReadableStream({
          pull: (stream) => {
            const part = parts.shift();
            if (part === undefined) stream.error(new Error('no more'));
            else stream.enqueue(new TextEncoder().encode(part));
          },
        });
        return new Response(body);
      },
    });
    await expect(ask(`${lab.url}/broken`)).rejects.toThrow();
    expect((await ask(`${lab.url}/healthz`)).status).toBe(200);
  });

  it('are no more told of as out of reach once the port is open (extensions-that-act §9.6)', async () => {
    await using lab = await served(echo);
    const warned = () => lab.test.log.entries.filter(({ level }) => level === 'warn').length;
    const before = warned();
    await lab.test.host.reload();
    expect(warned()).toBe(before);
  });
});
