import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';

type Fields = Record<string, unknown>;

/** A request that the gateway has received, after the handshake. */
export interface SeenRequest {
  readonly id: string;
  readonly method: string;
  readonly params: Fields;
  readonly from: ServerConnection;
}

/** What answers a request: a payload, a refusal, or nothing at all. */
export type Answer = { readonly payload: unknown } | { readonly error: Fields } | undefined;

export interface GatewayServerOptions {
  readonly token?: string;
  /** The protocol that it speaks, as the release does that brought it: 3 where unsaid. */
  readonly protocol?: number;
  /** Overrides fields of the hello's payload. */
  readonly hello?: Fields;
  /** Sends no challenge: a client has to give up by itself. */
  readonly silent?: boolean;
  /** Refuses each client in the handshake. */
  readonly refuse?: Fields;
  /** Where it listens; anywhere where unsaid. */
  readonly port?: number;
  /** Answers by method; `chat.send` is acknowledged under its idempotency key unless told otherwise. */
  readonly answers?: Readonly<Record<string, (request: SeenRequest) => Answer>>;
}

/** One client, as the gateway sees it. */
export class ServerConnection {
  readonly socket: WebSocket;
  readonly nonce = randomUUID();
  /** What it said of itself, once it has. */
  connect: Fields | undefined;
  scopes: readonly string[] = [];

  /** What the socket runs over. */
  readonly tcp: Socket;

  constructor(socket: WebSocket, tcp: Socket) {
    this.socket = socket;
    this.tcp = tcp;
  }

  get caps(): readonly unknown[] {
    return Array.isArray(this.connect?.caps) ? this.connect.caps : [];
  }

  send(frame: unknown): void {
    this.socket.send(JSON.stringify(frame));
  }
}

/**
 * A gateway on loopback that speaks protocol 3 or 4 as the real ones do: challenge, signed device identity, scopes, numbered
 * runs, tool events only for those who asked for them. It has no agent: tests say what is told.
 */
export class GatewayServer implements AsyncDisposable {
  /** Those that were let in, in order; also those that have gone. */
  readonly connections: ServerConnection[] = [];
  readonly requests: SeenRequest[] = [];
  /** What `connect` brought, word for word. */
  readonly connects: Fields[] = [];
  readonly answers: Record<string, (request: SeenRequest) => Answer>;
  options: GatewayServerOptions;
  #server: WebSocketServer;
  readonly #seqs = new Map<string, number>();
  #broadcasts = 0;

  private constructor(server: WebSocketServer, options: GatewayServerOptions) {
    this.#server = server;
    this.options = options;
    this.answers = { ...options.answers };
    this.#serve(server);
  }

  static async start(options: GatewayServerOptions = {}): Promise<GatewayServer> {
    return new GatewayServer(await listen(options.port ?? 0), options);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** The connection that was let in last. */
  get current(): ServerConnection {
    const last = this.connections.at(-1);
    if (last === undefined) throw new Error('nobody is connected');
    return last;
  }

  sent(method: string): readonly SeenRequest[] {
    return this.requests.filter((request) => request.method === method);
  }

  /** Sends an event of a run to whoever the real gateway would send it to. Numbers go up by one for each. */
  agent(runId: string, stream: string, data: Fields, fields: Fields = {}): void {
    const seq = (this.#seqs.get(runId) ?? 0) + 1;
    this.#seqs.set(runId, seq);
    const payload = { runId, stream, data, seq, ts: 1, sessionKey: 'agent:main:s', ...fields };
    const isTool = stream === 'tool';
    const frame = { type: 'event', event: 'agent', payload };
    for (const one of this.#open())
      if (!isTool) one.send({ ...frame, seq: ++this.#broadcasts });
      else if (one.caps.includes('tool-events')) one.send(frame);
  }

  /** Leaves numbers out, as a gateway that has lost events. */
  skip(runId: string, count: number): void {
    this.#seqs.set(runId, (this.#seqs.get(runId) ?? 0) + count);
  }

  chat(runId: string, state: string, text?: string, fields: Fields = {}): void {
    this.event('chat', {
      ...{ runId, state, sessionKey: 'agent:main:s', seq: 1 },
      ...(text !== undefined && {
        message: { role: 'assistant', content: [{ type: 'text', text }], timestamp: 1 },
      }),
      ...fields,
    });
  }

  event(event: string, payload: unknown): void {
    for (const one of this.#open())
      one.send({ type: 'event', event, payload, seq: ++this.#broadcasts });
  }

  /** Puts anything on the wire. */
  raw(data: string | Buffer, binary = false): void {
    for (const one of this.#open()) one.socket.send(data, { binary });
  }

  /** Cuts every connection, without a goodbye. */
  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  /** Stops listening, and cuts every connection. */
  async down(): Promise<void> {
    this.drop();
    const server = this.#server;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Listens again at a port. */
  async up(port: number, options: Partial<GatewayServerOptions> = {}): Promise<void> {
    this.options = { ...this.options, ...options };
    this.#server = await listen(port);
    this.#serve(this.#server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }

  #open(): readonly ServerConnection[] {
    return this.connections.filter(({ socket }) => socket.readyState === socket.OPEN);
  }

  #serve(server: WebSocketServer): void {
    server.on('connection', (socket, request) => {
      const connection = new ServerConnection(socket, request.socket);
      socket.on('error', () => undefined);
      socket.on('message', (data) => this.#take(connection, JSON.parse(String(data)) as Fields));
      if (this.options.silent !== true)
        connection.send({
          type: 'event',
          event: 'connect.challenge',
          payload: { nonce: connection.nonce, ts: 1 },
        });
    });
  }

  #take(from: ServerConnection, frame: Fields): void {
    const { id, method, params } = frame as { id: string; method: string; params: Fields };
    if (method === 'connect') {
      this.#connect(from, id, params);
      return;
    }
    const request = { id, method, params, from };
    this.requests.push(request);
    const answer = (this.answers[method] ?? acknowledge)(request);
    if (answer === undefined) return;
    const ok = 'payload' in answer;
    from.send({ type: 'res', id, ok, ...answer });
  }

  #connect(from: ServerConnection, id: string, params: Fields): void {
    const { token, refuse, hello, protocol = 3 } = this.options;
    this.connects.push(params);
    const auth: Fields = Object(params.auth);
    const mismatch =
      token !== undefined && auth.token !== token
        ? {
            code: 'INVALID_REQUEST',
            message: `unauthorized: ${String(auth.token)} is not the token`,
            details: { code: 'AUTH_TOKEN_MISMATCH' },
          }
        : undefined;
    const error = refuse ?? outOfRange(params, protocol) ?? mismatch;
    if (error !== undefined) {
      from.send({ type: 'res', id, ok: false, error });
      from.socket.close(1008, 'refused');
      return;
    }
    from.connect = params;
    const isTrusted = protocol > 3 && params.device === undefined; // on loopback, with the token
    const hasScopes = isTrusted || isProven(params, from.nonce);
    from.scopes = hasScopes ? (params.scopes as string[]) : [];
    this.connections.push(from);
    from.send({
      type: 'res',
      id,
      ok: true,
      payload: {
        type: 'hello-ok',
        protocol,
        ...(protocol > 3 && { auth: { role: 'operator', scopes: from.scopes } }),
        server: { version: protocol > 3 ? '2026.9.6' : '2026.3.13', connId: randomUUID() },
        features: { methods: [], events: [] },
        snapshot: { uptimeMs: 10_000_000 },
        policy: { maxPayload: 26_214_400, maxBufferedBytes: 52_428_800, tickIntervalMs: 30_000 },
        ...hello,
      },
    });
  }
}

/** How a gateway refuses a client whose range of protocols lacks its own. */
function outOfRange({ minProtocol, maxProtocol }: Fields, protocol: number): Fields | undefined {
  if (Number(minProtocol) <= protocol && protocol <= Number(maxProtocol)) return undefined;
  const code = protocol > 3 ? { code: 'PROTOCOL_MISMATCH' } : {};
  const details = { ...code, expectedProtocol: protocol };
  return { code: 'INVALID_REQUEST', message: 'protocol mismatch', details };
}

/** Waits for something that sockets bring about; the test's own time-out ends it. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

async function listen(port: number): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port, perMessageDeflate: true });
  await once(server, 'listening');
  return server;
}

function acknowledge({ method, params, from }: SeenRequest): Answer {
  if (method !== 'chat.send') return { payload: {} };
  if (!from.scopes.some((scope) => scope === 'operator.write' || scope === 'operator.admin'))
    return { error: { code: 'INVALID_REQUEST', message: 'missing scope: operator.write' } };
  return { payload: { runId: params.idempotencyKey, status: 'started' } };
}

/** Whether a device has signed all that its client says of itself. */
function isProven(params: Fields, nonce: string): boolean {
  const device = params.device as Record<string, string> | undefined;
  if (device === undefined || device.nonce !== nonce) return false;
  const { id = '', publicKey = '', signature = '', signedAt } = device;
  const raw = Buffer.from(publicKey, 'base64url');
  if (createHash('sha256').update(raw).digest('hex') !== id) return false;
  const client = params.client as Record<string, string>;
  const signed = [
    'v3',
    id,
    client.id,
    client.mode,
    params.role,
    (params.scopes as string[]).join(','),
    signedAt,
    (Object(params.auth) as Fields).token ?? '',
    nonce,
    client.platform?.toLowerCase(),
    client.deviceFamily?.toLowerCase() ?? '',
  ].join('|');
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey },
    format: 'jwk',
  });
  return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'));
}
