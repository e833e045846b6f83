import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isSameSecret } from 'sluice/chat';
import { hostCheck } from 'sluice/host';
import type { Claims } from './claims.js';
import { type Reply, refusal } from './reply.js';
import { maxRequestBytes, requestBody } from './request-body.js';
import { answer, type Question } from './routes.js';

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
  const { host, port, token, allowedHosts: names = [], headersTimeoutMs = 5_000 } = options;
  const isAllowed = (header = ''): boolean =>
    token === undefined || isSameSecret(/^bearer +(\S+)$/i.exec(header)?.[1], token);
  const isKnown = token === undefined ? hostCheck({ address: host, names }) : () => true;
  const isClosing = (): boolean => !server.listening;
  const limits = {
    ...{ maxHeaderSize: 8 * 1_024, headersTimeout: headersTimeoutMs, requestTimeout: 10_000 },
    connectionsCheckingInterval: headersTimeoutMs / 5, // by default Node looks at slow connections every 30 seconds
  };
  const server = createServer({ ...limits, keepAliveTimeout: 5_000 }, (request, response) => {
    void respond(request, response, { ...options, isAllowed, isKnown, isClosing });
  });
  server.maxConnections = 1_024;
  server.listen(port, host);
  await once(server, 'listening'); // rejects where it cannot
  return { url: urlOf(server, host), close: (graceMs) => closed(server, graceMs) };
}

interface Responding extends OwnershipServerOptions {
  readonly isAllowed: (header: string | undefined) => boolean;
  /** Judges a `Host` header. */
  readonly isKnown: (header: string | undefined) => boolean;
  readonly isClosing: () => boolean;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { claims, onAnswered, isAllowed, isKnown, isClosing }: Responding,
): Promise<void> {
  const { method = '', url = '' } = request;
  const [path = '', query = ''] = url.split('?', 2);
  let reply: Reply;
  let error: unknown;
  try {
    reply =
      refused(request, path, { isAllowed, isKnown }) ??
      (await answered(request, { method, path, query: new URLSearchParams(query) }, claims));
  } catch (thrown) {
    if (request.destroyed && !request.complete) return; // who asked is gone
    error = thrown;
    reply = refusal(503, 'the claims cannot be read or written now');
  }
  const isLast = !request.complete || isClosing(); // the unread rest would be taken for the next request
  response
    .writeHead(reply.status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...reply.headers,
      ...(isLast && { connection: 'close' }),
    })
    .end(`${JSON.stringify(reply.body)}\n`);
  onAnswered?.({ method, path, status: reply.status, ...(error !== undefined && { error }) });
}

/** Tells who may not ask at all. A page in a browser may not: it would ask in the name of the person who looks at it. */
function refused(
  { headers, method }: IncomingMessage,
  path: string,
  { isAllowed, isKnown }: Pick<Responding, 'isAllowed' | 'isKnown'>,
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

async function answered(
  request: IncomingMessage,
  asked: Omit<Question, 'body'>,
  claims: Claims,
): Promise<Reply> {
  const body = asked.method === 'POST' ? await requestBody(request) : '';
  if (body === undefined)
    return refusal(413, `the body must not be longer than ${maxRequestBytes} bytes`);
  return answer({ ...asked, body }, claims);
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo; // it listens on one
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function closed(server: Server, graceMs: number): Promise<void> {
  const gone = once(server, 'close');
  server.close(); // also those connections that are idle
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await gone;
  clearTimeout(timer);
}
