import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The most that one request may hold, in bytes. */
const bodyLimit = 1_048_576;

/** The options of a receiver. */
export interface ReceiverOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Refuses a request by its headers, before its body is read: the status of the answer. */
  readonly refuse: (request: IncomingMessage) => number | undefined;
  /** Takes a request with its body, and answers it. */
  readonly take: (body: string, request: IncomingMessage, response: ServerResponse) => unknown;
}

/** A server that takes what a provider brings. */
export interface Receiver {
  readonly port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Listens for the requests of one provider: POST, at one path, with a body of 1 MiB at most.
 *
 * @example
 * const receiver = await startReceiver({ host, port, path, refuse, take: (body) => inbox.receive(parsed(body)) });
 */
export async function startReceiver({
  host,
  port,
  path,
  ...more
}: ReceiverOptions): Promise<Receiver> {
  const { refuse, take } = more;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.url?.split('?')[0] !== path) return answer(response, 404);
    if (request.method !== 'POST') return answer(response, 405);
    const refused = refuse(request);
    if (refused !== undefined) return answer(response, refused);
    const body = await bodyOf(request);
    return body === undefined ? answer(response, 413) : take(body, request, response);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => answer(response, 400)); // the connection broke
  });
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', () => undefined); // a connection that cannot be accepted: the provider brings its request again
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port, not on a pipe
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Answers a request, unless it was answered before.
 *
 * @example
 * answer(response, 200);
 */
export function answer(response: ServerResponse, status: number, text?: string): void {
  if (response.writableEnded) return;
  response.writeHead(status, { connection: status === 200 ? 'keep-alive' : 'close' }).end(text);
}

/**
 * Compares a secret in the same time whatever was given. An empty secret is none: nothing is the same.
 *
 * @example
 * if (!isSameSecret(request.headers['x-secret'], secret)) return 401;
 */
export function isSameSecret(given: string | string[] | undefined, secret: string): boolean {
  if (typeof given !== 'string' || secret === '') return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
