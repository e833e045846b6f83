import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const bot = '+15550000001';

/** A stand-in for the daemon of signal-cli: its events, and its requests as far as the channel asks. */
export async function signalStandIn() {
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
    ...{ sent, listening },
    account: {
      ...{ account: bot, transport: { kind: 'external-native', url: `http://127.0.0.1:${port}` } },
      ...{ dmPolicy: 'allowlist', allowFrom: ['+15550000002'] },
    },
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
