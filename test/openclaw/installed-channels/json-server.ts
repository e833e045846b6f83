import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request to a server of a provider. */
export interface Asked {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server of a provider on loopback. */
export interface JsonServer extends AsyncDisposable {
  readonly server: Server;
  readonly url: string;
}

/** Starts a server that answers with JSON. @param answer gives the answer, or its status and the answer. */
export async function jsonServer(
  answer: (asked: Asked) => object | readonly [status: number, answer: object],
): Promise<JsonServer> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const { method = '', headers } = request;
    const body = await text(request);
    const given = answer({ method, path: pathname, query: searchParams, headers, body });
    const [status, said] = Array.isArray(given) ? given : [200, given];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(said));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    ...{ server, url: `http://127.0.0.1:${port}` },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
