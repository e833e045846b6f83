import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from '../life/host.js';
import { type HostNames, hostCheck, isLoopback } from './host-header.js';
import { type EventFeedOptions, eventFeed } from './serve-events.js';
import { serveRoute } from './serve-route.js';

/** The place at which a health port listens. */
export interface HealthServerOptions {
  /** 0 for one that is free. */
  readonly port: number;
  /** The address to listen at, by default `127.0.0.1`: nobody else is to see it. */
  readonly address?: string;
  /** Names beside `localhost` that it may be asked by at a loopback address, such as a proxy's. */
  readonly hosts?: readonly string[];
  /** Feeds other programs with the facts of a journal, at `/events`; by default it does not. */
  readonly events?: EventFeedOptions;
}

/** A health port that listens. To dispose it ends the requests under way. */
export interface HealthServer extends AsyncDisposable {
  /** `http://127.0.0.1:8080`, with the port that it got. */
  readonly url: string;
}

/** The connections at once; a monitor needs one. */
const maxConnections = 16;
/** The connections at once if there may be routes: more than the requests that they answer at once, so that a monitor has its own. */
const maxConnectionsOfRoutes = 128;

/** Milliseconds that a request of a monitor may take to arrive. */
const requestTimeoutMs = 2_000;
/** The same if there may be routes. A request that came while a handler blocked the host is not read yet, and counts as on its way. */
const routeTimeoutMs = 10_000;

/** The part of a host that a health port asks. Without `health` it serves routes alone, such as those of a channel. */
export type HealthServerHost = Partial<Pick<Host, 'health' | 'routes'>>;

/**
 * Tells a monitor how a host is, over HTTP: `GET /healthz` is 200 as long as the host lives, `GET /readyz` is 200 while it takes
 * messages, and 503 before, after, and while its journal takes nothing in (spec §20.4). If the host cannot tell, each is 503. Both
 * answer with JSON that holds names and numbers, and no text of anybody. At a loopback address a request whose `Host` is no name
 * of it is answered 421: it may come from a page in a browser. Other paths are those of the routes of extensions
 * (extensions-that-act §9).
 *
 * @throws the error of listening: the port is taken, say.
 * @example
 * await using health = await startHealthServer(host, { port: 8080 });
 */
export async function startHealthServer(
  host: HealthServerHost,
  { port, address = '127.0.0.1', hosts = [], events }: HealthServerOptions,
): Promise<HealthServer> {
  const feed = events && eventFeed(events);
  const served = { address, names: hosts, ...(feed && { feed }) };
  const isKnown = hostCheck(served);
  const timeoutMs = host.routes === undefined ? requestTimeoutMs : routeTimeoutMs;
  const server = createServer(
    {
      maxHeaderSize: host.routes === undefined ? 4_096 : 16_384, // a browser sends the cookies of other ports
      requestTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      connectionsCheckingInterval: requestTimeoutMs,
    },
    (request, response) => answer(host, request, response, { ...served, isKnown }),
  );
  server.maxConnections = host.routes === undefined ? maxConnections : maxConnectionsOfRoutes;
  server.unref(); // a host that has ended is not kept alive to say so
  server.listen(port, address);
  await once(server, 'listening'); // rejects if the server cannot listen
  const opened = host.routes?.open();
  const at = server.address() as AddressInfo; // it listens at a port, not at a pipe
  const name = at.family === 'IPv6' ? `[${at.address}]` : at.address;
  return {
    url: `http://${name}:${at.port}`,
    [Symbol.asyncDispose]: async () => {
      opened?.[Symbol.dispose]();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(
  host: HealthServerHost,
  request: IncomingMessage,
  response: ServerResponse,
  served: HostNames & {
    readonly isKnown: ReturnType<typeof hostCheck>;
    readonly feed?: ReturnType<typeof eventFeed>;
  },
): void {
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?', 1);
  const refuse = (status: number, error: string): void => {
    request.resume(); // a body is read away
    send(response, status, { error });
  };
  if (!served.isKnown(headers.host)) {
    refuse(421, 'this is not the host that was asked for; its setting "hosts" names more');
    return;
  }
  if (path === '/events' && served.feed !== undefined) {
    if (isOwnPage(headers, served)) void served.feed(request, response, refuse);
    else refuse(403, 'another page may not ask here');
    return;
  }
  const there = host.routes?.at(path) ?? [];
  if (host.routes !== undefined && there.length > 0) {
    if (isOwnPage(headers, served)) void serveRoute(host.routes, { request, response, url, there });
    else refuse(403, 'another page may not ask here');
    return;
  }
  request.resume();
  try {
    send(response, ...answerTo(host, method, path));
  } catch {
    // an error of a request listener would end the process
    send(response, 503, { ready: false, error: 'the host cannot tell how it is' });
  }
}

/**
 * Tells whether a request comes from no page, or from a page of this server: a page of another site may have a browser send
 * something here, such as a form, and the header `Origin` names the site then. A page at another port of this machine is
 * another site.
 */
function isOwnPage({ origin, host }: IncomingHttpHeaders, { address, names = [] }: HostNames) {
  if (origin === undefined || !isLoopback(address)) return true;
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return (
    page.host === host?.toLowerCase() || names.some((one) => one.toLowerCase() === page.hostname)
  );
}

function answerTo(
  host: HealthServerHost,
  method: string,
  path: string,
): readonly [status: number, body: object] {
  if (host.health === undefined || (path !== '/healthz' && path !== '/readyz'))
    return [404, { error: 'there are /healthz and /readyz' }];
  if (method !== 'GET' && method !== 'HEAD') return [405, { error: 'only GET' }];
  const health = host.health();
  const isReady = health.state === 'running' && health.journal?.code === undefined;
  const isFine = path === '/readyz' ? isReady : health.state !== 'stopped';
  return [isFine ? 200 : 503, { ready: isReady, ...health }];
}

function send(response: ServerResponse, status: number, body: object): void {
  const isTold = (key: string): boolean => key !== 'lastFailure'; // the words of an extension
  const text = `${JSON.stringify(body, (key, value) => (isTold(key) ? value : undefined))}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(text);
}
