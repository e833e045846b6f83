import { type Exchange, isSameSecret, startReceiver } from 'sluice/chat';
import { hostCheck } from 'sluice/host';
import type { Claims } from './claims.js';
import { type Reply, refusal } from './reply.js';
import { answer } from './routes.js';

/** The bytes that the body of a request may have. */
export const maxRequestBytes = 16 * 1_024;

/** A request that was answered. Nothing of its headers, and no query. */
export interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The error on the server's side. */
  readonly error?: unknown;
}

/** How a server is started. */
export interface OwnershipServerOptions {
  readonly claims: Claims;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** A request without it is refused. */
  readonly token?: string | undefined;
  /** Names beside `localhost` that it may be asked by at a loopback address, without a token. */
  readonly allowedHosts?: readonly string[];
  /** Milliseconds that the head of a request may take to arrive, from the connection on; by default 5,000. */
  readonly headersTimeoutMs?: number;
  readonly onAnswered?: (answered: Answered) => void;
}

/** A server that listens. */
export interface OwnershipServer {
  readonly url: string;
  /** Takes no more, lets what has begun end, for so many milliseconds, and closes. */
  close(graceMs: number): Promise<void>;
}

/**
 * Starts the ownership service. The HTTP contract is in the README.
 *
 * @throws Error of the system where it cannot listen: `EADDRINUSE`, say.
 */
export async function startOwnershipServer(
  options: OwnershipServerOptions,
): Promise<OwnershipServer> {
  const { host, port, token, allowedHosts: names = [], headersTimeoutMs } = options;
  const isAllowed = (header = ''): boolean =>
    token === undefined || isSameSecret(/^bearer +(\S+)$/i.exec(header)?.[1], token);
  const isKnown = token === undefined ? hostCheck({ address: host, names }) : () => true;
  let isClosing = false;
  const limits = headersTimeoutMs === undefined ? {} : { headersMs: headersTimeoutMs };
  const receiver = await startReceiver({
    ...{ host, port, name: 'ownership', limits },
    take: (exchange) =>
      respond(exchange, refused(exchange, isAllowed, isKnown), options, () => isClosing),
  });
  return {
    url: receiver.url,
    close: (graceMs) => {
      isClosing = true;
      return receiver.close(graceMs);
    },
  };
}

async function respond(
  exchange: Exchange,
  refusedAs: Reply | undefined,
  { claims, onAnswered }: OwnershipServerOptions,
  isClosing: () => boolean,
): Promise<void> {
  const { request, response, path } = exchange;
  const { method = '', url = '' } = request;
  const query = new URLSearchParams(url.slice(path.length + 1));
  let reply = refusedAs;
  let error: unknown;
  if (reply === undefined) {
    exchange.known();
    const body = method === 'POST' ? await exchange.body(maxRequestBytes) : '';
    try {
      if (body !== undefined)
        reply = answer({ method, path, query, body: body.toString('utf8') }, claims);
    } catch (thrown) {
      error = thrown;
      reply = refusal(503, 'the claims cannot be read or written now');
    }
  }
  if (reply !== undefined) {
    response.setHeaders(
      new Headers({
        'cache-control': 'no-store',
        ...reply.headers,
        ...(isClosing() && { connection: 'close' }),
      }),
    );
    exchange.answer(reply.status, reply.body);
  }
  const { headersSent, statusCode: status } = response;
  if (headersSent) onAnswered?.({ method, path, status, ...(error !== undefined && { error }) });
}

/** Tells who may not ask at all. A page in a browser may not: it would ask in the name of the person who looks at it. */
function refused(
  { request: { headers, method }, path }: Exchange,
  isAllowed: (header: string | undefined) => boolean,
  isKnown: (header: string | undefined) => boolean,
): Reply | undefined {
  if (headers.origin !== undefined) return refusal(403, 'this is not for browsers');
  if (!isKnown(headers.host))
    return refusal(421, 'this is not the host that was asked for; --allow-host names more');
  if (path !== '/health' && !isAllowed(headers.authorization))
    return refusal(401, 'the bearer token is missing or wrong', { 'www-authenticate': 'Bearer' });
  const isJson = /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
  if (method === 'POST' && !isJson) return refusal(415, 'the body must be application/json');
  return undefined;
}
