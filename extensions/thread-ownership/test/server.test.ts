import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { maxRequestBytes } from '../src/server/ownership-server.js';
import { base, claimsLab, ttlMs } from './claims-lab.js';

const thread = 'C1/17.5';
const json = { 'content-type': 'application/json' };

describe('a claim', () => {
  it('is had by the first who asks, and refused to others with the name of who has it', async () => {
    await using lab = await claimsLab();
    const claim = {
      channel: 'C1',
      thread: '17.5',
      owner: 'one',
      claimed_at_ms: 1_000_000,
      expires_at_ms: 1_060_000,
    };
    expect(await lab.claim(thread, 'one')).toMatchObject({ status: 200, body: claim });
    expect(await lab.claim(thread, 'two')).toMatchObject({ status: 409, body: claim });
    expect(await lab.claim('C1/17.6', 'two')).toMatchObject({ status: 200 });
    expect(await lab.ask(`${base}/${thread}`)).toMatchObject({ status: 200, body: claim });
  });

  it('lasts for exactly its time after its owner last asked', async () => {
    await using lab = await claimsLab();
    await lab.claim(thread, 'one');
    lab.nowMs += 10;
    const { body } = await lab.claim(thread, 'one');
    expect(body).toMatchObject({ claimed_at_ms: 1_000_000, expires_at_ms: 1_060_010 });
    lab.nowMs += ttlMs;
    expect((await lab.claim(thread, 'two')).status).toBe(409);
    lab.nowMs += 1;
    expect(await lab.claim(thread, 'two')).toMatchObject({
      status: 200,
      body: { owner: 'two', claimed_at_ms: lab.nowMs },
    });
  });

  it('is given up by its owner, or by who names no agent, and by no other agent', async () => {
    await using lab = await claimsLab();
    const release = (query: string) => lab.ask(`${base}/${thread}${query}`, { method: 'DELETE' });
    expect((await release('')).status).toBe(404);
    await lab.claim(thread, 'one');
    expect(await release('?agent_id=two')).toMatchObject({ status: 409, body: { owner: 'one' } });
    expect((await release('?agent_id=one')).status).toBe(200);
    expect((await lab.claim(thread, 'two')).status).toBe(200);
    expect((await release('')).status).toBe(200);
    expect((await lab.ask(`${base}/${thread}`)).status).toBe(404);
  });

  it('may have any ids, encoded', async () => {
    await using lab = await claimsLab();
    const ids = ['telegram:-100/5', 'é ?#%', "x'; DROP TABLE claims; --"];
    for (const id of ids) {
      const path = `${encodeURIComponent(id)}/${encodeURIComponent(id)}`;
      expect(await lab.claim(path, id)).toMatchObject({
        status: 200,
        body: { channel: id, thread: id, owner: id },
      });
    }
  });
});

describe('the list', () => {
  it('has all that live, in order, page by page', async () => {
    await using lab = await claimsLab();
    const paths = ['a/1', 'a/2', 'b%2Fc/1', 'c/1', 'c/2'];
    await lab.claim('z/old', 'one');
    lab.nowMs += ttlMs + 1;
    for (const path of paths.toReversed()) await lab.claim(path, 'one');
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 9; pages++) {
      const { body } = await lab.ask(`${base}?limit=2${after}`);
      const { threads, next } = body as {
        threads: { channel: string; thread: string }[];
        next: string | null;
      };
      seen.push(...threads.map((one) => `${encodeURIComponent(one.channel)}/${one.thread}`));
      if (next === null) break;
      after = `&after=${encodeURIComponent(next)}`;
    }
    expect(seen).toEqual(paths);
  });
});

describe('what is not answered as it was asked', () => {
  it.each<[number, string, RequestInit]>([
    [400, `${base}/${thread}`, { method: 'POST', headers: json, body: 'no json' }],
    [400, `${base}/${thread}`, { method: 'POST', headers: json, body: '{"agent_id":7}' }],
    [400, `${base}/${thread}`, { method: 'POST', headers: json, body: 'null' }],
    [400, `${base}/${thread}`, { method: 'POST', headers: json, body: '{"agent_id":""}' }],
    [400, `${base}/%E0%A4%A/1`, {}],
    [400, `${base}//1`, {}],
    [400, `${base}/${'x'.repeat(513)}/1`, {}],
    [400, `${base}/a%0Ab/1`, {}],
    [400, `${base}?limit=0`, {}],
    [400, `${base}?limit=1001`, {}],
    [400, `${base}?after=x`, {}],
    [403, `${base}/${thread}`, { headers: { origin: 'http://evil.example' } }],
    [404, '/', {}],
    [404, `${base}/C1`, {}],
    [404, `${base}/C1/2/3`, {}],
    [405, `${base}/${thread}`, { method: 'PUT' }],
    [405, base, { method: 'DELETE' }],
    [405, '/health', { method: 'PUT' }],
    [
      413,
      `${base}/${thread}`,
      { method: 'POST', headers: json, body: 'x'.repeat(maxRequestBytes + 1) },
    ],
    [415, `${base}/${thread}`, { method: 'POST', body: '{"agent_id":"one"}' }],
    [431, `${base}/${'x'.repeat(20_000)}/1`, {}],
  ])('%d for %s %j', async (status, path, init) => {
    await using lab = await claimsLab();
    const response = await fetch(`${lab.server.url}${path}`, init);
    expect(response.status).toBe(status);
    if (status !== 431) expect(await response.json()).toEqual({ error: expect.any(String) });
    expect(lab.claims.list({ limit: 10 })).toEqual([]);
  });

  it('413 comes also where a body does not say how long it is', async () => {
    await using lab = await claimsLab();
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 20; at++) controller.enqueue(new Uint8Array(1_024));
        controller.close();
      },
    });
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit;
    expect((await lab.ask(`${base}/${thread}`, init)).status).toBe(413);
  });

  it('a client that goes away in mid request takes nothing down', async () => {
    await using lab = await claimsLab();
    const { port, hostname } = new URL(lab.server.url);
    await new Promise<void>((closed) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST ${base}/C1/1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
        );
        socket.resetAndDestroy();
      });
      socket.on('close', () => closed());
    });
    expect((await lab.claim(thread, 'one')).status).toBe(200);
  });
});

describe('a token', () => {
  const token = 'hush-hush-1';
  it.each([
    [undefined, 401],
    ['Bearer', 401],
    ['Bearer hush-hush-2', 401],
    ['Bearer hush-hush-1x', 401],
    ['Bearer hush', 401],
    ['Basic hush-hush-1', 401],
    ['Bearer hush-hush-1', 200],
    ['bearer  hush-hush-1', 200],
  ])('%s gives %d', async (authorization, status) => {
    await using lab = await claimsLab(token);
    const headers = { ...(authorization !== undefined && { authorization }) };
    const reply = await lab.ask(base, { headers });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(JSON.stringify(lab.answered)).not.toContain('hush');
  });

  it('is not needed to ask for its health', async () => {
    await using lab = await claimsLab(token);
    expect(await lab.ask('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});

describe('closing', () => {
  /** A request whose body is not whole yet. */
  const halfAsked = async (url: string) => {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    let text = '';
    const closed = new Promise<string>((resolve) => {
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      socket.on('error', () => undefined).on('close', () => resolve(text));
    });
    const head = `POST ${base}/C1/1 HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: 18\r\n\r\n`);
    await new Promise((begun) => socket.once('data', begun)); // its head was read
    return { socket, closed };
  };

  it('lets a request that has begun end', async () => {
    const lab = await claimsLab();
    const { socket, closed } = await halfAsked(lab.server.url);
    const closing = lab.server.close(60_000);
    socket.write('{"agent_id":"one"}');
    expect(await closed).toContain('HTTP/1.1 200 OK');
    await closing;
    await expect(lab.ask('/health')).rejects.toThrow('fetch failed');
  });

  it('does not wait for one for ever', async () => {
    const lab = await claimsLab();
    const { closed } = await halfAsked(lab.server.url);
    await lab.server.close(1);
    expect(await closed).not.toContain('200 OK');
  });
});

describe('a database that is of no use', () => {
  it('is a 503, and told', async () => {
    const lab = await claimsLab();
    lab.claims.list = () => {
      throw new Error('the disk is gone');
    };
    try {
      expect((await lab.ask('/health')).status).toBe(503);
      expect(String(lab.answered[0]?.error)).toContain('the disk is gone');
    } finally {
      await lab[Symbol.asyncDispose]();
    }
  });
});

describe('who may ask without a token', () => {
  /** The status of an answer to a request that names a host. */
  const statusFor = (url: string, host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request(`${url}${base}`, { headers: { host }, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      asked.on('error', reject).end();
    });

  it('L9: no page whose name was made to point here: its Host is refused, that of this machine and of a named proxy is not', async () => {
    await using lab = await claimsLab(undefined, { allowedHosts: ['Claims.example.org'] });
    const { port } = new URL(lab.server.url);
    const named = ['localhost', `LOCALHOST:${port}`, `127.0.0.1:${port}`, '127.0.0.53', '[::1]:80'];
    for (const host of [...named, 'claims.example.org', 'claims.example.org.:443'])
      expect([host, await statusFor(lab.server.url, host)]).toEqual([host, 200]);
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1.evil.example',
      'localhost.evil',
    ];
    for (const host of [...foreign, '10.0.0.7', '[::2]', 'a b'])
      expect([host, await statusFor(lab.server.url, host)]).toEqual([host, 421]);
  });

  it('L9: with a token any Host may ask: a page has none', async () => {
    await using lab = await claimsLab('secret');
    expect(await statusFor(lab.server.url, 'evil.example')).toBe(401);
  });
});

describe('a slow connection', () => {
  it.each([
    ['that says nothing', ''],
    ['that does not end its head', 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
  ])('L9: %s is closed when its time is up', async (_, said) => {
    await using lab = await claimsLab(undefined, { headersTimeoutMs: 50 });
    const socket = connect(Number(new URL(lab.server.url).port), '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.resume().write(said); // from here on it is the server's to end it
    });
    expect(lab.answered).toEqual([]);
  }); // without the check of its own, Node looks after 30 s
});
