import { inspect } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gatewayLab, labToken } from '../../support/gateway-lab.js';
import { until } from '../../support/gateway-server.js';

describe('a frame that is none (stream §2.8; fault 42)', () => {
  it.each([
    ['no JSON', 'nonsense', 'malformedFrames'],
    ['a truncated frame', '{"type":"event","event":"ag', 'malformedFrames'],
    ['no object', '7', 'malformedFrames'],
    ['null', 'null', 'malformedFrames'],
    ['an answer without an id', '{"type":"res","ok":true}', 'malformedFrames'],
    ['an event without a name', '{"type":"event"}', 'malformedFrames'],
    [
      'an agent event of no run',
      '{"type":"event","event":"agent","payload":{"seq":1}}',
      'malformedFrames',
    ],
    [
      'a chat event of no state',
      '{"type":"event","event":"chat","payload":{"runId":"r"}}',
      'malformedFrames',
    ],
    ['a request', '{"type":"req","id":"1","method":"x"}', 'unknownFrames'],
    ['an answer that nobody waits for', '{"type":"res","id":"x","ok":true}', 'unknownFrames'],
    ['a binary frame', Buffer.from([1, 2, 3]), 'binaryFrames'],
    ['a frame above maxFrameBytes', `"${'x'.repeat(200_000)}"`, 'oversizedFrames'],
  ] as const)('%s is counted and dropped', async (_what, data, counter) => {
    await using lab = await gatewayLab({ client: { maxFrameBytes: 100_000 } });
    lab.server.raw(data, typeof data !== 'string');
    await until(() => lab.client.stats()[counter] === 1);
    await expect(lab.client.request('health')).resolves.toEqual({});
    expect(lab.client.stats().connections).toBe(1);
  });

  it('in fragments is put together', async () => {
    await using lab = await gatewayLab();
    const texts: unknown[] = [];
    lab.client.registerAgentAccumulation('r-1', ({ data }) => void texts.push(data.text));
    const payload = { runId: 'r-1', seq: 1, stream: 'assistant', data: { text: 'whole' } };
    const text = JSON.stringify({ type: 'event', event: 'agent', payload });
    const { socket } = lab.server.current;
    socket.send(text.slice(0, 20), { fin: false });
    socket.send(text.slice(20, 40), { fin: false });
    socket.send(text.slice(40), { fin: true });
    await until(() => texts.length === 1);
    expect(texts).toEqual(['whole']);
  });

  it('above maxPayloadBytes costs the connection, which is made again', async () => {
    await using lab = await gatewayLab({ client: { maxPayloadBytes: 64 * 1024 } });
    lab.server.raw('x'.repeat(64 * 1024 * 1024));
    await until(() => lab.client.state === 'waiting');
    expect(lab.client.stats().oversizedFrames).toBe(1);
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
  });

  it.each([
    ['a compressed frame, which was never agreed to', compressedBomb()],
    ['bytes that are no frame', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a text that is no UTF-8', Buffer.from([0x81, 0x02, 0xc3, 0x28])],
  ])('%s costs the connection, which is made again', async (_what, bytes) => {
    await using lab = await gatewayLab();
    lab.server.current.tcp.write(bytes); // below the protocol
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
  });
});

/** A megabyte of nothing, compressed to a kilobyte, in a frame whose first bit says so. */
function compressedBomb(): Buffer {
  const body = deflateRawSync(Buffer.alloc(1024 * 1024));
  const head = Buffer.alloc(4);
  head.writeUInt8(0b1100_0001, 0);
  head.writeUInt8(126, 1);
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

describe('a request', () => {
  it('is answered by its id, also out of order (stream §2.7)', async () => {
    await using lab = await gatewayLab();
    lab.server.answers.slow = () => undefined;
    lab.server.answers.fast = () => ({ payload: { is: 'fast' } });
    const slow = lab.client.request('slow');
    await expect(lab.client.request('fast')).resolves.toEqual({ is: 'fast' });
    const [asked] = lab.server.sent('slow');
    asked?.from.send({ type: 'res', id: asked.id, ok: true, payload: { is: 'slow' } });
    await expect(slow).resolves.toEqual({ is: 'slow' });
  });

  it('ends with its time-out, and a later answer is nobody’s (stream §2.7)', async () => {
    await using lab = await gatewayLab();
    lab.server.answers.slow = () => undefined;
    const ended = expect(lab.client.request('slow')).rejects.toMatchObject({
      code: 'gateway-timed-out',
      details: { method: 'slow', timeoutMs: 30_000 },
    });
    await lab.clock.advance(30_000);
    await ended;
    const [asked] = lab.server.sent('slow');
    asked?.from.send({ type: 'res', id: asked.id, ok: true });
    await until(() => lab.client.stats().unknownFrames === 1);
  });

  it('ends with its signal', async () => {
    await using lab = await gatewayLab();
    lab.server.answers.slow = () => undefined;
    const stop = new AbortController();
    const asked = lab.client.request('slow', {}, { signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: 'request-aborted' });
    await expect(lab.client.request('slow', {}, { signal: stop.signal })).rejects.toMatchObject({
      code: 'request-aborted',
    });
    expect(lab.client.stats().pendingRequests).toBe(0);
  });

  it('ends with the connection, and is not sent again (stream §2.7; upstream: no pending requests after stop)', async () => {
    await using lab = await gatewayLab();
    lab.server.answers.slow = () => undefined;
    const asked = lab.client.request('slow');
    const lost = expect(asked).rejects.toMatchObject({ code: 'gateway-disconnected' });
    await until(() => lab.server.sent('slow').length === 1);
    lab.server.drop();
    await lost;
    await expect(lab.client.request('slow')).rejects.toMatchObject({
      code: 'gateway-disconnected',
    });
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
    expect(lab.server.sent('slow')).toHaveLength(1);
    const last = lab.client.request('slow');
    const stopped = expect(last).rejects.toMatchObject({ code: 'gateway-disconnected' });
    await lab.client.stop();
    await stopped;
    expect(lab.client.stats().pendingRequests).toBe(0);
    await expect(lab.client.request('slow')).rejects.toMatchObject({ code: 'client-stopped' });
  });

  it('before the start is refused (upstream: request before start rejects)', async () => {
    await using lab = await gatewayLab({ idle: true });
    await expect(lab.client.request('health')).rejects.toMatchObject({
      code: 'gateway-disconnected',
    });
  });

  it('whose parameters are no JSON is refused, and leaves nothing behind', async () => {
    await using lab = await gatewayLab();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await expect(lab.client.request('x', cyclic)).rejects.toThrow(TypeError);
    expect(lab.client.stats().pendingRequests).toBe(0);
  });

  it('is refused as the 257th that waits, and where too many bytes wait to be sent (stream §2.7; fault 40)', async () => {
    await using lab = await gatewayLab({ client: { maxBufferedBytes: 1_000_000 } });
    lab.server.answers.slow = () => undefined;
    const asked = Array.from({ length: 256 }, () =>
      lab.client.request('slow').catch(() => undefined),
    );
    await expect(lab.client.request('slow')).rejects.toMatchObject({
      code: 'gateway-busy',
      message: expect.stringContaining('256 requests'),
    });
    for (const { id, from } of await until(() => lab.server.sent('slow').length === 256).then(() =>
      lab.server.sent('slow'),
    ))
      from.send({ type: 'res', id, ok: true });
    await Promise.all(asked);
    lab.server.current.socket.pause(); // a gateway that no longer reads
    const full: unknown[] = [];
    for (let more = 0; more < 200 && full.length === 0; more++) {
      lab.client.request('slow', { text: 'x'.repeat(200_000) }).catch((error: unknown) => {
        if (Object(error).code === 'gateway-busy') full.push(error);
      });
      await until(() => true);
    }
    expect(full).not.toEqual([]);
  });
});

describe('secrets (stream §2.9)', () => {
  it('are in no log, no error and no field, also where the gateway says them back', async () => {
    const password = 'canary-password-7d';
    await using lab = await gatewayLab({
      idle: true,
      client: { token: 'canary-token-1a', password },
    });
    lab.client.start();
    const error: unknown = await lab.client.ready().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining('[secret] is not the token') });
    lab.server.answers.x = () => ({
      error: {
        code: 'INVALID_REQUEST',
        message: `bad ${password}\nand\u0007more ${'x'.repeat(900)}`,
      },
    });
    lab.server.options = { ...lab.server.options, token: 'canary-token-1a' };
    await lab.clock.advance(15_000);
    await until(() => lab.client.state === 'connected');
    const refused: unknown = await lab.client.request('x').catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ message: expect.stringContaining('bad [secret] and more') });
    const all = inspect([error, refused, lab.log.entries, lab.client, lab.client.stats()], {
      depth: 12,
      maxStringLength: null,
      maxArrayLength: null,
    });
    expect(all).not.toContain('canary');
    expect(all).not.toContain(labToken);
    expect(JSON.stringify(lab.client)).not.toContain('canary');
    expect(String(Object(refused).message).length).toBeLessThan(700);
  });
});
