import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';

const openclaw = inject('openClawWithChannels');
const bot = '+15550000001';

describe.skipIf(openclaw === undefined)('the unmodified signal of OpenClaw 2026.9', () => {
  it('takes an event in, judges its sender by OpenClaw’s own rules, and answers by a request (event-pipeline §17.35)', async () => {
    await using daemon = await signalStandIn();
    const channel = {
      ...{ account: bot, transport: { kind: 'external-native', url: daemon.url } },
      ...{ dmPolicy: 'allowlist', allowFrom: ['+15550000002'] },
    };
    await using lab = await laterLab('@openclaw/signal@2026.9.6', {
      channels: { signal: channel },
    });
    const host = await lab.begin();
    const stream = await daemon.listening;
    daemon.bring(stream, '+15550000003', 'let me in', 1);
    daemon.bring(stream, '+15550000002', 'hello', 2);
    expect(await host.heard('end')).toMatchObject({ status: 'answered', texts: ['hello'] });
    expect(daemon.sent).toMatchObject([{ message: 'hello', recipient: ['+15550000002'] }]);
  });
});

/** A stand-in for the daemon of signal-cli: its events, and its requests as far as the channel asks. */
async function signalStandIn() {
  const sent: Record<string, unknown>[] = [];
  let listen: (stream: ServerResponse) => void = () => undefined;
  const listening = new Promise<ServerResponse>((resolve) => {
    listen = resolve;
  });
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/api/v1/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return listen(response);
    }
    const body = await text(request);
    const asked = JSON.parse(body || '{}') as {
      id?: string;
      method?: string;
      params?: Record<string, unknown>;
    };
    if (asked.method === 'send') sent.push(asked.params ?? {});
    const result = asked.method === 'version' ? { version: '0.13.0' } : { timestamp: 7 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    ...{ sent, listening, url: `http://127.0.0.1:${port}` },
    bring: (
      stream: ServerResponse,
      sourceNumber: string,
      message: string,
      timestamp: number,
    ): void => {
      const at = Date.now() + timestamp;
      const envelope = {
        ...{ source: sourceNumber, sourceNumber, sourceName: 'Ada', timestamp: at },
        dataMessage: { timestamp: at, message },
      };
      stream.write(`event:receive\ndata:${JSON.stringify({ envelope, account: bot })}\n\n`);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
