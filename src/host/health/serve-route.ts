import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '@sluice/sdk/chat/internal';
import type { Host } from '../life/host.js';
import { wrongMethod } from '../routes/answer-request.js';
import type { HttpRouteStatus } from '../routes/host-routes.js';

/** Methods that the web's own `Request` does not take. No route has them. */
const notOfRequests: ReadonlySet<string | undefined> = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Headers of one connection, which the server sets itself. */
const perConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'content-length'],
  'set-cookie', // there may be several
]);

/** Has a request answered by the routes of a host, and writes the answer. Never rejects. */
export async function serveRoute(
  routes: Pick<Host['routes'], 'answer'>,
  exchange: Exchange,
  there: readonly HttpRouteStatus[],
  admit?: (exchange: Exchange) => Response | undefined,
): Promise<void> {
  const { request, response } = exchange;
  const maxBodyBytes = Math.max(...there.map((one) => one.maxBodyBytes));
  const readsItself = there.some(({ method }) => method === '*');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.on('error', () => undefined); // a plugin may write after the end
  try {
    const refused = notOfRequests.has(request.method) ? wrongMethod(there) : admit?.(exchange);
    const answer = async (): Promise<Response | undefined> => {
      if (refused !== undefined) return refused;
      const body = readsItself ? Buffer.alloc(0) : await exchange.body(maxBodyBytes);
      if (body === undefined) return undefined;
      const asked = webRequest(request, body, gone.signal);
      exchange.known(); // a route bounds what it has taken
      return routes.answer(asked, { request, response });
    };
    const answered = await answer();
    if (answered === undefined) return;
    request.resume(); // a body that nobody has read
    if (!response.headersSent) await write(answered, response, request.complete);
    else if (!response.writableEnded) response.destroy(); // its time is up
  } catch {
    // the client has gone, or the answer broke off: it is to see that it is not whole
    response.destroy();
  }
}

function webRequest(
  { method = 'GET', url = '', headers, rawHeaders }: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Request {
  const { host = '' } = headers;
  const origin = /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : 'http://localhost';
  const given = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    given.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(`${origin}${url}`, {
    ...{ method, headers: given, signal },
    ...(hasBody && { body: new Uint8Array(body) }),
  });
}

async function write(answer: Response, response: ServerResponse, isLast: boolean): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers)
    if (!perConnection.has(name)) response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (isLast) response.setHeader('connection', 'close'); // a body on its way would reset it
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
