import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Logger } from 'sluice';
import { hostCheck } from 'sluice/host';
import type { HttpConfig } from './config.js';
import { type Caller, callerOf } from './keys.js';
import type { Page } from './page.js';
import { RequestProblem, sendJson } from './problem.js';

/** A request whose body was read. */
export interface ReadRequest {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly response: ServerResponse;
}

/** The answers of a server. They reject with RequestProblem. */
export interface ServedParts {
  readonly config: HttpConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly page: Page | undefined;
  chat(caller: Caller, request: ReadRequest): Promise<void>;
  hook(name: string, request: ReadRequest): Promise<void>;
}

/** A server that listens. */
export interface Served {
  readonly url: string;
  /** Takes no more requests in; those under way go on. */
  stop(): void;
  close(): Promise<void>;
}

const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
/** Milliseconds in which a client can read the end of its answer when the host stops. */
const lastWordsMs = 2_000;
const longestHeaders = 16_384;

/** Listens, and answers requests. Nothing of a request is read before it is known whose it is. */
export async function serve(parts: ServedParts): Promise<Served> {
  const { config, clock, log } = parts;
  const { address, port, hosts: names, maxRequests } = config;
  const isKnown = hostCheck({ address, names });
  let isStopping = false;
  let isClosing = false;
  let running = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers, method = '', url = '/' } = request;
    const { host, origin, authorization } = headers;
    const [path = ''] = url.split('?', 1);
    if (host === undefined || !isKnown(host))
      throw new RequestProblem(421, 'wrong-host', 'this is not the host that was asked for');
    if (!isOwnPage(headers))
      throw new RequestProblem(403, 'wrong-origin', `${origin ?? 'another page'} may not ask here`);
    const only = (wanted: string): void => {
      if (method === wanted) return;
      const allow = { headers: { allow: wanted } };
      throw new RequestProblem(405, 'wrong-method', `only ${wanted} is answered here`, allow);
    };
    if (path === '/' && parts.page !== undefined) {
      only('GET');
      response.writeHead(200, parts.page.headers).end(parts.page.html);
      return;
    }
    const hook = /^\/hooks\/([\w.-]+)$/.exec(path)?.[1];
    const isHook = hook !== undefined && Object.hasOwn(config.webhooks, hook);
    const isModels = path === '/v1/models';
    if (!isHook && !isModels && path !== '/v1/chat/completions')
      throw new RequestProblem(404, 'no-such-path', 'there is no such path');
    only(isModels ? 'GET' : 'POST');
    const caller = isHook ? undefined : callerOf(config, authorization);
    if (!isHook && caller === undefined)
      throw new RequestProblem(401, 'invalid_api_key', 'the key is missing or wrong', {
        headers: { 'www-authenticate': 'Bearer' },
      });
    if (isModels) return sendJson(response, 200, modelsOf(config));
    const busy = { headers: { 'retry-after': '1' } };
    if (isStopping) throw new RequestProblem(503, 'stopping', 'the host stops', busy);
    if (running >= maxRequests)
      throw new RequestProblem(503, 'busy', 'too many requests are being answered', busy);
    running++;
    response.once('close', () => {
      running--;
      if (isClosing && running === 0) server.closeAllConnections();
    });
    const read = { headers, body: await bodyOf(request, config.maxBodyBytes), response };
    if (caller === undefined) await parts.hook(hook ?? '', read);
    else await parts.chat(caller, read);
  };

  const server = createServer(
    {
      maxHeaderSize: longestHeaders,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    },
    (request, response) => {
      for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
      answer(request, response).catch((error: unknown) => {
        if (request.errored !== null) return; // nobody is there any more
        const isTold = error instanceof RequestProblem;
        if (!isTold) log.error('a request failed', { error });
        const problem = isTold
          ? error
          : new RequestProblem(500, 'failed', 'the request failed; the log tells why');
        // a body that was not read is not the next request
        const headers = {
          ...problem.more.headers,
          ...(!request.complete && { connection: 'close' }),
        };
        sendJson(response, problem.status, problem.body, headers);
      });
    },
  );
  server.maxConnections = 2 * maxRequests;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  const at = server.address() as AddressInfo; // it listens at a port, not at a pipe
  const name = at.family === 'IPv6' ? `[${at.address}]` : at.address;
  return {
    url: `http://${name}:${at.port}`,
    stop: () => {
      isStopping = true;
    },
    close: async () => {
      isStopping = true;
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = (): void => server.closeAllConnections();
      const timer = clock.setTimeout(cut, running === 0 ? 0 : lastWordsMs);
      await closed;
      clock.clearTimeout(timer);
    },
  };
}

const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

/** Tells whether a request comes from no page, or from the page of this server: a browser names the site of another. */
function isOwnPage({
  origin,
  host = '',
  'sec-fetch-site': site = 'none',
}: IncomingMessage['headers']) {
  if (site !== 'none' && site !== 'same-origin') return false;
  return (
    origin === undefined || (URL.canParse(origin) && new URL(origin).host === host.toLowerCase())
  );
}

/** @throws RequestProblem if it is too large. */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = new RequestProblem(413, 'too-large', `a body may have ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function modelsOf({ models }: HttpConfig) {
  const data = Object.keys(models).map((id) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'sluice',
  }));
  return { object: 'list', data };
}
