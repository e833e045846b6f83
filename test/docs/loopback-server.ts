import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that came in. */
export interface LoopbackRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer of the script: its status, its headers, and its body as JSON. By default a 200 without a body. */
export interface LoopbackAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

/** A server of this machine that answers by a script, as the provider behind a channel or an agent. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly LoopbackRequest[];
  /** Resolves when so many requests have come. */
  asked(count: number): Promise<void>;
}

/**
 * Starts one.
 *
 * @param answer answers the n-th request, from 0; it may wait.
 */
export async function loopbackServer(
  answer: (request: LoopbackRequest, at: number) => LoopbackAnswer | Promise<LoopbackAnswer>,
): Promise<LoopbackServer> {
  const requests: LoopbackRequest[] = [];
  const came = new EventEmitter();
  const server = createServer(async (incoming, response) => {
    const request = { headers: incoming.headers, body: JSON.parse(await text(incoming)) };
    const at = requests.push(request) - 1;
    came.emit('request');
    const { status = 200, headers = {}, body } = await answer(request, at);
    response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port, not at a pipe
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    asked: async (count) => {
      while (requests.length < count) await once(came, 'request');
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A port of this machine that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port, not at a pipe
  await once(server.close(), 'close');
  return port;
}
