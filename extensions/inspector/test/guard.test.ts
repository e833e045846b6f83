import { memoryJournal } from 'sluice/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspector, startInspector } from '../src/index.js';
import { ask, knowing, partsOf } from './ask.js';

let inspector: Inspector;

beforeAll(async () => {
  inspector = await startInspector({ name: 'a test', reader: memoryJournal() });
});
afterAll(() => inspector[Symbol.asyncDispose]());

describe('the inspector', () => {
  it('answers who knows the token', async () => {
    const { status, body } = await ask(inspector, '/api/about', { headers: knowing(inspector) });
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { name: 'a test', write: false, text: false, live: false, replays: false, dead: 0 },
    ]);
  });

  it('listens at the loopback address, and has its token in the fragment alone', () => {
    expect(inspector.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  });

  it.each(['/api/about', '/api/list', '/api/events'])(
    'tells nothing of %s without the token, with a wrong one, or with the token in the query',
    async (path) => {
      const { token } = partsOf(inspector);
      for (const [at, authorization] of [
        [path, undefined],
        [path, 'Bearer wrong'],
        [path, token],
        [`${path}?token=${token}`, undefined],
      ] as const) {
        const headers = authorization === undefined ? {} : { authorization };
        const { status, body } = await ask(inspector, at, { headers });
        expect([status, body]).toEqual([401, '{"error":"the token is missing or wrong"}']);
      }
    },
  );

  it.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '10.0.0.1'])(
    'answers nobody who asks for the host %s, whatever else he knows',
    async (host) => {
      for (const path of ['/', '/page/main.js', '/api/about']) {
        const { status, body } = await ask(inspector, path, {
          headers: { host, ...knowing(inspector) },
        });
        expect([status, body]).toEqual([
          421,
          '{"error":"this is not the host that was asked for"}',
        ]);
      }
    },
  );

  it.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('answers no other page: %j', async (other) => {
    const headers = { ...Object.fromEntries(Object.entries(other)), ...knowing(inspector) };
    for (const path of ['/', '/page/main.js', '/api/about']) {
      const { status, body } = await ask(inspector, path, { headers });
      expect([status, body]).toEqual([403, '{"error":"another page may not ask here"}']);
    }
  });

  it('answers its own page', async () => {
    const { origin } = partsOf(inspector);
    const headers = { origin, 'sec-fetch-site': 'same-origin', ...knowing(inspector) };
    expect((await ask(inspector, '/api/about', { headers })).status).toBe(200);
  });

  it('lets its page load nothing from outside, and no page hold it', async () => {
    for (const path of ['/', '/page/main.js', '/api/about', '/nothing']) {
      const { headers } = await ask(inspector, path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  it.each(['/../package.json', '/page/../../package.json', '/page/%2e%2e/index.js', '/index.js'])(
    'has no file %s',
    async (path) => {
      expect((await ask(inspector, path)).status).toBe(404);
    },
  );

  it.each(['retry', 'purge', 'answer', 'reload', 'stop', 'toString', '__proto__', 'constructor'])(
    'changes nothing without leave: %s',
    async (name) => {
      const { status } = await ask(inspector, `/api/${name}`, {
        ...{ method: 'POST', headers: knowing(inspector), body: '{"ids":["a"]}' },
      });
      expect([403, 404]).toContain(status);
    },
  );

  it('answers a request for what is no address', async () => {
    expect((await ask(inspector, '//')).status).toBe(404);
  });

  it('says so if a request is too large, and reads it to its end', async () => {
    const { status, body } = await ask(inspector, '/api/differ', {
      ...{ method: 'POST', headers: knowing(inspector), body: ' '.repeat(4_000_000) },
    });
    expect([status, body]).toEqual([413, '{"error":"a body may have 1048576 bytes"}']);
  });
});
