import type { IncomingHttpHeaders } from 'node:http';
import { type Exchange, startReceiver } from '@sluice/sdk/chat/internal';
import { type Clock, definedFields, type Logger } from 'sluice-kernel/internal';
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
  /** Feeds other programs with the entries of a journal, at `/events`; by default it does not. */
  readonly events?: EventFeedOptions;
  /** Connections of one address whose sender is not known: by default 64; more for a proxy, whose address all have. */
  readonly connectionsPerAddress?: number;
  /** Is told of refused requests, with their number; without it nobody is. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** The name in the log, by default `health`. */
  readonly name?: string;
}

/** A health port that listens. To dispose it ends the requests under way. */
export interface HealthServer extends AsyncDisposable {
  /** `http://127.0.0.1:8080`, with the port that it got. */
  readonly url: string;
}

/** The part of a host that a health port asks. Without `health` it serves routes alone, such as those of a channel. */
export interface HealthServerHost extends Partial<Pick<Host, 'health'>> {
  readonly routes?: Host['routes'] & {
    /** Refuses a request before its body is read, or says that its sender is known. */
    readonly admit?: (exchange: Exchange) => Response | undefined;
  };
}

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
  { port, address = '127.0.0.1', hosts = [], events, ...options }: HealthServerOptions,
): Promise<HealthServer> {
  const { logger, clock, name = 'health', connectionsPerAddress } = options;
  const feed = events && eventFeed(events);
  const names = { address, names: hosts };
  const isKnown = hostCheck(names);
  const answer = (exchange: Exchange): unknown => {
    const { path, request } = exchange;
    const { method = '', headers } = request;
    if (!isKnown(headers.host))
      return exchange.refuse(
        421,
        'this is not the host that was asked for; its setting "hosts" names more',
      );
    const there = host.routes?.at(path) ?? [];
    const isFeed = path === '/events' && feed !== undefined;
    if ((isFeed || there.length > 0) && !isOwnPage(headers, names))
      return exchange.refuse(403, 'another page may not ask here');
    if (isFeed) return feed(exchange);
    if (host.routes !== undefined && there.length > 0)
      return serveRoute(host.routes, exchange, there, host.routes.admit);
    try {
      return send(exchange, ...answerTo(host, method, path));
    } catch {
      return send(exchange, 503, { ready: false, error: 'the host cannot tell how it is' });
    }
  };
  const limits = definedFields({ connectionsPerAddress });
  const receiver = await startReceiver({
    ...{ host: address, port, name, limits, unref: true }, // a host that has ended is not kept alive to say so
    ...definedFields({ log: logger, clock }),
    take: answer,
  });
  const opened = host.routes?.open();
  return {
    url: receiver.url,
    [Symbol.asyncDispose]: async () => {
      opened?.[Symbol.dispose]();
      await receiver.close();
    },
  };
}

/**
 * Returns whether a request comes from no page, or from a page of this server: a page of another site may have a browser send
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

function send(exchange: Exchange, status: number, body: object): void {
  const isTold = (key: string): boolean => key !== 'lastFailure'; // the words of an extension
  const text = `${JSON.stringify(body, (key, value) => (isTold(key) ? value : undefined))}\n`;
  exchange.response
    .setHeader('content-type', 'application/json')
    .setHeader('cache-control', 'no-store')
    .setHeader('connection', 'close');
  exchange.answer(status, text);
}
