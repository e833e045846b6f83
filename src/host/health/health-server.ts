import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from '../life/host.js';
import { hostCheck } from './host-header.js';

/** The place at which a health port listens. */
export interface HealthServerOptions {
  /** 0 for one that is free. */
  readonly port: number;
  /** The address to listen at, by default `127.0.0.1`: nobody else is to see it. */
  readonly address?: string;
  /** Names beside `localhost` that it may be asked by at a loopback address, such as a proxy's. */
  readonly hosts?: readonly string[];
}

/** A health port that listens. To dispose it ends the requests under way. */
export interface HealthServer extends AsyncDisposable {
  /** `http://127.0.0.1:8080`, with the port that it got. */
  readonly url: string;
}

/** The connections at once; a monitor needs one. */
const maxConnections = 16;

/** Milliseconds that a request may take to arrive. */
const requestTimeoutMs = 2_000;

/**
 * Tells a monitor how a host is, over HTTP: `GET /healthz` is 200 as long as the host lives, `GET /readyz` is 200 while it takes
 * messages, and 503 before, after, and while its journal takes nothing in (spec §20.4). If the host cannot tell, each is 503. Both
 * answer with JSON that holds names and numbers, and no text of anybody. At a loopback address a request whose `Host` is no name
 * of it is answered 421: it may come from a page in a browser.
 *
 * @throws the error of listening: the port is taken, say.
 * @example
 * await using health = await startHealthServer(host, { port: 8080 });
 */
export async function startHealthServer(
  host: Pick<Host, 'health'>,
  { port, address = '127.0.0.1', hosts = [] }: HealthServerOptions,
): Promise<HealthServer> {
  const isKnown = hostCheck({ address, names: hosts });
  const server = createServer(
    {
      maxHeaderSize: 4_096,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs,
    },
    (request, response) => answer(host, request, response, isKnown),
  );
  server.maxConnections = maxConnections;
  server.unref(); // a host that has ended is not kept alive to say so
  await listen(server, port, address);
  const at = server.address() as AddressInfo; // it listens at a port, not at a pipe
  const name = at.family === 'IPv6' ? `[${at.address}]` : at.address;
  return {
    url: `http://${name}:${at.port}`,
    [Symbol.asyncDispose]: () => close(server),
  };
}

function answer(
  host: Pick<Host, 'health'>,
  request: IncomingMessage,
  response: ServerResponse,
  isKnown: (header: string | undefined) => boolean,
): void {
  request.resume(); // a body is read away
  const { method = '', url = '' } = request;
  const [path = ''] = url.split('?', 1);
  if (!isKnown(request.headers.host)) {
    const error = 'this is not the host that was asked for; "health.hosts" names more';
    send(response, 421, { error });
    return;
  }
  try {
    send(response, ...answerTo(host, method, path));
  } catch {
    // an error of a request listener would end the process
    send(response, 503, { ready: false, error: 'the host cannot tell how it is' });
  }
}

function answerTo(
  host: Pick<Host, 'health'>,
  method: string,
  path: string,
): readonly [status: number, body: object] {
  if (path !== '/healthz' && path !== '/readyz')
    return [404, { error: 'there are /healthz and /readyz' }];
  if (method !== 'GET' && method !== 'HEAD') return [405, { error: 'only GET' }];
  const health = host.health();
  const isReady = health.state === 'running' && health.journal?.code === undefined;
  const isFine = path === '/readyz' ? isReady : health.state !== 'stopped';
  return [isFine ? 200 : 503, { ready: isReady, ...health }];
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(text);
}

function listen(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
