import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createDeviceIdentity, OpenClawClient } from '../../../src/openclaw/gateway/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { gatewayLab, labToken } from '../../support/gateway-lab.js';
import { until } from '../../support/gateway-server.js';

describe('the handshake', () => {
  it('presents role, scopes, client, the cap tool-events and the token (stream §2.2; upstream: handshake, real token)', async () => {
    await using lab = await gatewayLab({ client: { platform: 'Linux', version: '1.2.3' } });
    const [connect] = lab.server.connects;
    expect(connect).toMatchObject({
      minProtocol: 3,
      maxProtocol: 4,
      role: 'operator',
      scopes: ['operator.read', 'operator.write'],
      caps: ['tool-events'],
      client: { id: 'gateway-client', mode: 'backend', platform: 'Linux', version: '1.2.3' },
      auth: { token: labToken },
      locale: 'en-US',
    });
  });

  it('proves with a signature that it has the device key, so that it keeps its scopes (stream §2.2)', async () => {
    const device = createDeviceIdentity();
    await using lab = await gatewayLab({ client: { device } });
    expect(lab.server.connects[0]?.device).toMatchObject({ id: device.id });
    expect(lab.server.current.scopes).toEqual(['operator.read', 'operator.write']);
  });

  it('warns where there is no identity, since a gateway then takes the scopes away (stream §2.2)', async () => {
    const device = undefined as unknown as ReturnType<typeof createDeviceIdentity>; // absent
    await using lab = await gatewayLab({ client: { device } });
    expect(lab.server.current.scopes).toEqual([]);
    expect(lab.log.messages('warn').join()).toContain('no device identity');
    await expect(lab.client.request('chat.send', { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'gateway-refused',
      details: { reason: 'INVALID_REQUEST' },
    });
  });

  it('goes from idle to connected, and to stopped (stream §2.1; upstream: states)', async () => {
    await using lab = await gatewayLab({ idle: true });
    const states = [lab.client.state];
    lab.client.onState(({ state }) => states.push(state));
    lab.client.start();
    lab.client.start(); // does nothing
    await lab.client.ready();
    await lab.client.stop();
    expect(states).toEqual(['idle', 'connecting', 'connected', 'stopped']);
    expect(lab.server.connects).toHaveLength(1);
  });

  it('says at once to those who wait that the gateway refuses, and tries again after the longest delay (stream §2.3)', async () => {
    await using lab = await gatewayLab({ idle: true, client: { token: 'a-wrong-token' } });
    lab.client.start();
    await expect(lab.client.ready({ timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'gateway-unreachable',
      message: expect.stringContaining('AUTH_TOKEN_MISMATCH'),
    });
    await lab.clock.advance(14_999);
    expect(lab.server.connects).toHaveLength(1);
    await lab.clock.advance(1);
    await until(() => lab.server.connects.length === 2);
  });

  it('tries a gateway that is starting again after the usual delay, and who waits for it goes on waiting (stream §2.3)', async () => {
    const refuse = { code: 'UNAVAILABLE', message: 'gateway starting', retryable: true };
    await using lab = await gatewayLab({ idle: true, server: { refuse } });
    lab.client.start();
    const ready = lab.client.ready();
    await until(() => lab.client.state === 'waiting');
    const { token } = lab.server.options;
    lab.server.options = { ...(token !== undefined && { token }) };
    await lab.clock.advance(800);
    await ready;
    expect(lab.server.connects).toHaveLength(2);
  });

  it('gives up a gateway that says nothing, after the time for the handshake (stream §2.3)', async () => {
    await using lab = await gatewayLab({ idle: true, server: { silent: true } });
    lab.client.start();
    await lab.clock.advance(9_999);
    expect(lab.client.state).toBe('connecting');
    await lab.clock.advance(1);
    expect(lab.client.state).toBe('waiting');
    expect(lab.log.entries.at(-1)).toMatchObject({
      message: 'the gateway is not connected',
      fields: { detail: 'it did not answer within 10000 ms' },
    });
  });

  it.each([
    [3, '2026.3.13'],
    [4, '2026.9.6'],
  ])(
    'speaks protocol %i with a gateway that speaks it (stream §2.2, stream §8.1)',
    async (protocol, version) => {
      await using lab = await gatewayLab({ server: { protocol } });
      expect(lab.log.entries).toContainEqual(
        expect.objectContaining({ fields: { protocol, version } }),
      );
      expect(lab.log.messages('warn')).toEqual([]);
    },
  );

  it.each([
    ['a gateway of a later release', 'protocol 5', { protocol: 5 }],
    ['a gateway of an earlier one', 'protocol 2', { protocol: 2 }],
    [
      'a gateway that does not say which it speaks',
      'a protocol without a number',
      { refuse: { code: 'INVALID_REQUEST', details: { code: 'PROTOCOL_MISMATCH' } } },
    ],
    ['a welcome of another protocol', 'protocol 5', { hello: { protocol: 5 } }],
    ['a welcome without its type', 'a protocol without a number', { hello: { type: 'hello' } }],
  ])('names the protocols of both sides to %s (stream §2.3)', async (_what, theirs, server) => {
    await using lab = await gatewayLab({ idle: true, server });
    lab.client.start();
    const error: unknown = await lab.client.ready().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'gateway-protocol',
      details: { problem: `it speaks ${theirs}, and this client 3 to 4` },
      hint: expect.stringContaining('have nothing to do with it'),
    });
  });

  it('says nothing of a missing device to a gateway of protocol 4 that gives it its scopes (stream §2.2)', async () => {
    const device = undefined as unknown as ReturnType<typeof createDeviceIdentity>; // absent
    await using lab = await gatewayLab({ client: { device }, server: { protocol: 4 } });
    expect(lab.log.messages('warn')).toEqual([]);
    expect(await lab.client.request('chat.send', { idempotencyKey: 'k' })).toMatchObject({
      runId: 'k',
    });
  });

  it('warns of the scopes that a gateway of protocol 4 withholds, with a device or without (stream §2.2)', async () => {
    const hello = { auth: { scopes: ['operator.read'] } };
    await using lab = await gatewayLab({ server: { protocol: 4, hello } });
    expect(lab.log.entries.find(({ level }) => level === 'warn')).toMatchObject({
      message: 'the gateway does not allow all that its client asks for',
      fields: { missing: ['operator.write'] },
    });
  });

  it('says what is wrong where nobody started it, where nobody listens, and where the wait is aborted', async () => {
    await using lab = await gatewayLab({ idle: true });
    await expect(lab.client.ready()).rejects.toMatchObject({ code: 'gateway-unreachable' });
    await lab.server.down();
    lab.client.start();
    const stop = new AbortController();
    const aborted = lab.client.ready({ signal: stop.signal });
    stop.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'request-aborted' });
    await until(() => lab.client.state === 'waiting');
    const waiting = lab.client.ready({ timeoutMs: 100 });
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'gateway-unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await lab.clock.advance(100);
    await refused;
    await lab.client.stop();
    await expect(lab.client.ready()).rejects.toMatchObject({ code: 'client-stopped' });
    expect(lab.client.stats().listeners).toBe(0);
  });
});

describe('the options of a client', () => {
  it.each([
    ['url', { url: 'http://127.0.0.1:1' }],
    ['url', { url: 'nowhere' }],
    ['url', { url: 'wss://user:pass@gateway.example' }],
    ['url', { url: 'wss://gateway.example?token=x' }],
    ['url', { url: 'ws://gateway.example' }],
    ['maxRuns', { maxRuns: 0 }],
    ['requestTimeoutMs', { requestTimeoutMs: Number.NaN }],
    ['reconnect.factor', { reconnect: { factor: 0.5 } }],
    ['reconnect.jitter', { reconnect: { jitter: 2 } }],
  ])('refuse a wrong %s: %o', (option, wrong) => {
    const make = () => new OpenClawClient({ url: 'ws://127.0.0.1:1', ...wrong });
    expect(make).toThrow(expect.objectContaining({ code: 'bad-client-option' }));
    expect(make).toThrow(`"${option}"`);
  });

  it('take ws: to another machine only where that is said (stream §2.9)', () => {
    const client = new OpenClawClient({ url: 'ws://10.0.0.7:18789', allowPlaintext: true });
    expect(client.state).toBe('idle');
  });
});

describe('what is no gateway', () => {
  it('is told apart from one that is not there, and tried again (stream §2.3)', async () => {
    const server = createServer((_request, response) => {
      response.statusCode = 404;
      response.end();
    }).listen(0, '127.0.0.1');
    server.on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
    });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clock = virtualClock();
    const client = new OpenClawClient({ url: `ws://127.0.0.1:${port}`, clock, random: () => 0 });
    const problems: unknown[] = [];
    client.onState(({ problem }) => problem !== undefined && problems.push(problem));
    client.start();
    await until(() => client.state === 'waiting');
    await clock.advance(800);
    await until(() => problems.length === 2);
    expect(problems[0]).toContain('401');
    await client.stop();
    server.close();
    await once(server, 'close');
  });
});

describe('reconnecting', () => {
  it('waits 800 ms, then 1.7 times as long each time, at most 15 s (stream §2.5)', async () => {
    const clock = virtualClock();
    await using lab = await gatewayLab({ idle: true });
    await lab.server.down();
    const client = new OpenClawClient({ url: 'ws://127.0.0.1:1', clock, random: () => 0 });
    const delays: number[] = [];
    let lostAtMs = 0;
    client.onState(({ state }) => {
      if (state === 'waiting') lostAtMs = clock.monotonicMs();
      if (state === 'connecting') delays.push(clock.monotonicMs() - lostAtMs);
    });
    client.start();
    for (let attempt = 0; attempt < 8; attempt++) {
      await until(() => client.state === 'waiting');
      await clock.advance(15_000);
    }
    await client.stop();
    expect(delays.slice(1, 9).map(Math.round)).toEqual([
      800, 1_360, 2_312, 3_930, 6_682, 11_359, 15_000, 15_000,
    ]);
    expect(clock.pending).toBe(0);
  });

  it('adds up to a quarter by chance (stream §2.5)', async () => {
    const clock = virtualClock();
    const client = new OpenClawClient({ url: 'ws://127.0.0.1:1', clock, random: () => 0.999_999 });
    let attempts = 0;
    client.onState(({ state }) => {
      if (state === 'connecting') attempts++;
    });
    client.start();
    await until(() => client.state === 'waiting');
    await clock.advance(999);
    expect(attempts).toBe(1);
    await clock.advance(1);
    expect(attempts).toBe(2);
    await client.stop();
  });

  it('drops a gateway that has been silent for two and a half of its ticks (stream §2.5)', async () => {
    await using lab = await gatewayLab();
    await lab.clock.advance(60_000);
    lab.server.event('tick', {});
    await until(() => lab.client.stats().framesReceived === 3);
    await lab.clock.advance(60_000);
    expect(lab.client.state).toBe('connected');
    await lab.clock.advance(30_000);
    expect(lab.client.stats().connections).toBe(1);
    await lab.clock.advance(800);
    await until(() => lab.client.stats().connections === 2);
  });
});
