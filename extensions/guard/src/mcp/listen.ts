import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { type Exchange, isSameSecret, startReceiver } from 'sluice/chat';
import { fault } from './gate.js';
import type { McpOptions } from './options.js';
import type { Relay } from './relay.js';

/** One client over streamable HTTP, with a session of its own. */
class HttpClient extends WebStandardStreamableHTTPServerTransport {
  /** The session, once it has begun. */
  relay: Relay | undefined;
  readonly #options: McpOptions;
  /** Messages that wait for a stream, with their bytes. */
  readonly #waiting: [message: JSONRPCMessage, bytes: number][] = [];
  #isListening = false;
  #connections = 0;
  /** Bytes that were sent and that nobody has read. */
  #unread = 0;
  #idle: { unref?(): unknown } | undefined;

  constructor(options: McpOptions, taken: (id: string, client: HttpClient) => Promise<void>) {
    const { maxBytes: maxRequestBodySize } = options.bounds;
    const onsessioninitialized = (id: string) => taken(id, this);
    super({ sessionIdGenerator: randomUUID, maxRequestBodySize, onsessioninitialized });
    this.#options = options;
  }

  override async start(): Promise<void> {
    const take = this.onmessage;
    this.onmessage = (message, extra) => {
      take?.(message, extra);
      if (!('method' in message) || message.method !== 'notifications/cancelled') return;
      const id = message.params?.['requestId'] as RequestId; // any other is that of no request
      void super.send(fault(id, 'cancelled')).catch(() => undefined); // it ends the stream
    };
    await super.start();
  }

  /** Sends an answer on the stream of its request, and the rest on a stream that is there, or on the next one. */
  override async send(message: JSONRPCMessage, how?: TransportSendOptions): Promise<void> {
    const { relatedRequestId } = how ?? {};
    const bytes = JSON.stringify(message).length;
    if (!('method' in message)) return this.#sent(bytes, message);
    const isProgress = message.method === 'notifications/progress';
    if (this.#isListening && !isProgress) return this.#sent(bytes, message);
    if (relatedRequestId !== undefined) return this.#sent(bytes, message, { relatedRequestId });
    this.#waiting.push([message, bytes]);
    this.#drop();
  }

  async #sent(
    bytes: number,
    message: JSONRPCMessage,
    how?: { relatedRequestId: RequestId },
  ): Promise<void> {
    const { warn, bounds } = this.#options;
    this.#unread += bytes;
    if (this.#unread <= bounds.maxUnread) return super.send(message, how);
    warn('a client does not read: its session ends');
    return this.close();
  }

  /** Gives up the oldest messages that wait, if there are too many. */
  #drop(): void {
    const { maxUnread, maxWaiting } = this.#options.bounds;
    const held = this.#waiting.reduce((sum, [, bytes]) => sum + bytes, 0);
    if (this.#waiting.length <= maxWaiting && held <= maxUnread) return;
    const [dropped] = this.#waiting.shift() ?? [];
    if (dropped !== undefined && 'id' in dropped && dropped.id !== undefined)
      this.onmessage?.(fault(dropped.id, 'the client listens to no stream'));
    this.#drop();
  }

  override async close(): Promise<void> {
    this.#stay();
    await super.close();
  }

  /** Serves one HTTP request of this client. */
  async serve(request: Request, to: ServerResponse): Promise<void> {
    this.#connections++;
    this.#stay();
    const answer = await this.handleRequest(request);
    const listens = request.method === 'GET' && answer.ok;
    if (listens) this.#isListening = true;
    if (listens) for (const [one] of this.#waiting.splice(0)) await this.send(one);
    to.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders();
    const body = answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body);
    await pipeline(body, (pieces) => this.#counted(pieces), to).catch(() => undefined); // the client has gone
    if (listens) this.#isListening = false;
    if (--this.#connections > 0 || this.sessionId === undefined) return;
    this.#unread = 0;
    const { clock, bounds } = this.#options;
    this.#idle = clock.setTimeout(() => void this.close(), bounds.idleMs);
    this.#idle.unref?.();
  }

  async *#counted(pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      this.#unread = Math.max(0, this.#unread - piece.length);
      yield piece;
    }
  }

  #stay(): void {
    if (this.#idle !== undefined) this.#options.clock.clearTimeout(this.#idle);
  }
}

/**
 * Serves streamable HTTP on 127.0.0.1, under `/mcp`. It asks for the token, and refuses what a web page sends.
 *
 * @param begin starts the session of a client.
 * @throws Error (as a rejection) if the port is taken.
 */
export async function listen(
  options: McpOptions & { readonly token: string },
  begin: (client: HttpClient) => Promise<Relay>,
) {
  const sessions = new Map<string, HttpClient>();
  const { bounds, clock, port = 0, token } = options;
  const own = { host: '127.0.0.1', name: 'guard mcp' };
  const receiver = await startReceiver({ ...own, port, clock, take: serve });

  async function serve(exchange: Exchange): Promise<void> {
    const { request, response, path } = exchange;
    const { method = '', headers } = request;
    const id = headers['mcp-session-id'];
    const known = sessions.get(String(id));
    const isHere = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(headers.host ?? '');
    if (!isHere || headers.origin !== undefined) return exchange.refuse(403, 'not for web pages');
    if (!isSameSecret(headers.authorization, `Bearer ${token}`))
      return exchange.refuse(401, 'the token is missing or wrong');
    exchange.known();
    if (path !== '/mcp') return exchange.refuse(404, 'it is at /mcp');
    if (id !== undefined && known === undefined) return exchange.refuse(404, 'no such session');
    const client = known ?? new HttpClient(options, start);
    const given: RequestInit = { method, headers: headers as Record<string, string> }; // a list has no place in one that is read
    if (method === 'POST') {
      const body = await exchange.body(bounds.maxBytes);
      if (body === undefined) return undefined;
      given.body = body;
    }
    await client.serve(new Request(`http://${headers.host}/mcp`, given), response);
  }

  async function start(id: string, client: HttpClient): Promise<void> {
    const { maxSessions } = bounds;
    if (sessions.size >= maxSessions) throw new Error(`${maxSessions} sessions are open`);
    sessions.set(id, client);
    const over = () => sessions.delete(id);
    const begun = begin(client);
    void begun.then(({ closed }) => closed).then(over, over);
    client.relay = await begun;
  }

  return {
    url: `${receiver.url}/mcp`,
    close: async () => {
      await Promise.all([...sessions.values()].map(({ relay }) => relay?.end('client')));
      await receiver.close();
    },
  };
}
