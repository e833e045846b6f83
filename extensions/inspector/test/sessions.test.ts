import { memoryJournal } from 'sluice/host';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { startInspector } from '../src/index.js';
import { ask, knowing } from './ask.js';

/** An inspector, and a browser that has logged in there. */
async function lab(more: Readonly<Record<string, string>> = {}) {
  const clock = virtualClock(1_000);
  const inspector = await startInspector({ name: 'it', reader: memoryJournal() }, { clock });
  const login = async () => {
    const headers = { ...knowing(inspector), ...more };
    const given = await ask(inspector, '/api/login', { method: 'POST', headers });
    const setCookie = String(given.headers['set-cookie']);
    const { key } = JSON.parse(given.body) as { readonly key: string };
    return { setCookie, cookie: setCookie.split(';')[0] ?? '', 'x-sluice-page': key };
  };
  const status = async (headers: Readonly<Record<string, string>>, path = '/api/about') =>
    (await ask(inspector, path, { headers: { ...headers, ...more } })).status;
  const close = () => inspector[Symbol.asyncDispose]();
  return { clock, inspector, login, status, [Symbol.asyncDispose]: close };
}

describe('a login', () => {
  it('is opened by the token alone, and by no session', async () => {
    await using test = await lab();
    const { cookie, ...key } = await test.login();
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { cookie, ...key }])
      expect((await ask(test.inspector, '/api/login', { method: 'POST', headers })).status).toBe(
        401,
      );
  });

  it('is a cookie that no script reads and no other site sends, and a key: neither is enough alone', async () => {
    await using test = await lab();
    const { setCookie, cookie, 'x-sluice-page': key } = await test.login();
    expect(setCookie).toMatch(/^sluice-inspector-\d+=[\w-]{32}; HttpOnly; SameSite=Strict$/);
    expect(await test.status({ cookie, 'x-sluice-page': key })).toBe(200);
    expect(await test.status({ cookie })).toBe(401);
    expect(await test.status({ 'x-sluice-page': key })).toBe(401);
    expect(await test.status({ cookie, 'x-sluice-page': `${key}x` })).toBe(401);
    expect(await test.status({ cookie: 'a=b', 'x-sluice-page': key })).toBe(401);
  });

  it('gives a cookie for encrypted connections alone to a page that came by one', async () => {
    await using test = await lab({ host: 'localhost', origin: 'https://localhost' });
    expect((await test.login()).setCookie).toMatch(/; Secure$/);
  });

  it('ends when it is logged out, and leaves the other browsers logged in', async () => {
    await using test = await lab();
    const { setCookie: _, ...one } = await test.login();
    const { setCookie: __, ...other } = await test.login();
    const out = await ask(test.inspector, '/api/logout', { method: 'POST', headers: one });
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
    expect([await test.status(one), await test.status(other)]).toEqual([401, 200]);
  });

  it('ends 12 hours after its last use', async () => {
    await using test = await lab();
    const { setCookie: _, ...one } = await test.login();
    const hour = 3_600_000;
    for (const wait of [11, 11]) {
      await test.clock.advance(wait * hour);
      expect(await test.status(one)).toBe(200);
    }
    await test.clock.advance(13 * hour);
    expect(await test.status(one)).toBe(401);
  });

  it('makes room for the newest: 64 browsers are logged in at most', async () => {
    await using test = await lab();
    const all = [];
    for (let at = 0; at < 65; at++) all.push(await test.login());
    const states = await Promise.all(all.map(({ setCookie: _, ...one }) => test.status(one)));
    expect(states).toEqual([401, ...Array.from({ length: 64 }, () => 200)]);
  });
});
