import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refusal, wrongMethod } from '../routes/answer-request.js';
import type { HttpRouteStatus, HttpRoutes } from '../routes/host-routes.js';

/** A request as it came in at a port. */
export interface ServedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path and the query. */
  readonly url: string;
  /** The routes of its path. */
  readonly there: readonly HttpRouteStatus[];
}

/** Methods that the web's own `Request` does not take. No route has them. */
const notOfRequests: ReadonlySet<string | undefined> = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Headers of one connection, which the server sets itself. */
const perConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'content-length'],
  'set-cookie', // there may be several
]);

/** Has a request answered by the routes of a host, and writes the answer. Never rejects. */
export async function serveRoute(
  routes: Pick<HttpRoutes, 'answer'>,
  { request, response, url, there }: ServedRequest,
): Promise<void> {
  const maxBodyBytes = Math.max(...there.map((one) => one.maxBodyBytes));
  const readsItself = there.some(({ method }) => method === '*');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.on('error', () => undefined); // a plugin may write after the end
  try {
    const body = readsItself ? Buffer.alloc(0) : await bodyOf(request, maxBodyBytes);
    if (body === 'cut-off') return;
    const answer = async (): Promise<Response> => {
      if (notOfRequests.has(request.method)) return wrongMethod(there);
      if (body === 'too-large') return refusal(413, `a body may have ${maxBodyBytes} bytes`);
      return routes.answer(webRequest(request, url, body, gone.signal), { request, response });
    };
    const answered = await answer();
    if (!response.headersSent) await write(answered, response);
    else if (!response.writableEnded) response.destroy(); // its time is up
    request.resume(); // a body that nobody has read
  } catch {
    // the client has gone, or the answer broke off: it is to see that it is not whole
    response.destroy();
  }
}

/** Reads a body, as far as it may go. Nobody reads the rest of one that is too large. */
function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too-large' | 'cut-off'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) resolve('too-large');
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        chunks.length = 0;
        resolve('too-large');
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => resolve('cut-off'));
    request.on('close', () => resolve('cut-off')); // after the end it changes nothing
  });
}

function webRequest(
  { method = 'GET', headers, rawHeaders }: IncomingMessage,
  url: string,
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

async function write(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers)
    if (!perConnection.has(name)) response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  response.setHeader('connection', 'close');
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
