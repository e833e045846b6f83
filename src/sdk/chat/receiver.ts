import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, type Logger, silentLogger, systemClock, Timer } from 'sluice-kernel/internal';
import { Strangers } from './strangers.js';

/** The bounds of a receiver. They hold before anybody is known. */
export interface ReceiverLimits {
  /** Connections of one address whose sender is not known, by default 64: four times as many of all addresses, eight times with known ones. */
  readonly connectionsPerAddress?: number;
  /** Bytes of bodies of senders who are not known, together: 16 MiB by default. */
  readonly strangersBytes?: number;
  /** Milliseconds for the head of a request, by default 5,000. */
  readonly headersMs?: number;
  /** Milliseconds for a request with its body, by default 10,000. */
  readonly requestMs?: number;
}

/** The options of a receiver. */
export interface ReceiverOptions {
  /** The address to listen at. */
  readonly host: string;
  /** 0 for one that is free. */
  readonly port: number;
  /** The path of a Unix socket to listen at in place of host and port. It is for the user of its folder. */
  readonly socketPath?: string;
  /** The name of the receiver in the log. */
  readonly name: string;
  /** Is told of refused requests: of the first one at once, of the others once a minute, with their number. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly limits?: ReceiverLimits;
  /** The one path; others are 404, and there is no method but POST. Without it, `take` gets every request. */
  readonly path?: string;
  /** A process that has nothing else to do ends. */
  readonly unref?: boolean;
  /** Answers a request. If it rejects, the connection is cut. */
  readonly take: (exchange: Exchange) => unknown;
}

/** A request, with what a receiver does for it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Its path, without the query. */
  readonly path: string;
  /** The text under which a 401 of another author than `refuse` is counted: one of few. */
  why?: string;
  /** The sender is known: neither the connection nor the bytes of this request count as those of a stranger. */
  known(): void;
  /** Reads the body. @returns nothing if it is too large, which has been answered, or was cut off. */
  body(maxBytes?: number): Promise<Buffer | undefined>;
  /** Answers, unless it was answered before. An object is sent as JSON. */
  answer(status: number, body?: string | object): void;
  /** Answers with JSON, `{"error": why}`. @param why one of few texts: it is counted in the log. */
  refuse(status: number, why: string): void;
}

/** A server that takes requests. */
export interface Receiver {
  /** 0 at a Unix socket. */
  readonly port: number;
  /** `http://127.0.0.1:8080`, with the port that it got; `unix:PATH` at a Unix socket. */
  readonly url: string;
  /** Ends every connection. @param graceMs milliseconds in which what has begun may end, by default 0. */
  close(graceMs?: number): Promise<void>;
}

/** The memory that a piece of a body needs besides its bytes: a sender may send each byte as a piece of its own. */
const pieceBytes = 128;

/** The most that a body may hold by default, in bytes. */
const usualBodyBytes = 1_048_576;

/**
 * Listens for requests (extensions-that-act §9.10). Before anybody is known, connections, time and bytes are bounded. A request that
 * names two hosts, or a host in its target that is not that of its header, is refused. Whoever is refused is counted in the log.
 *
 * @throws the error of listening: the port is taken, say.
 * @example
 * const receiver = await startReceiver({ host, port, path, name: 'acme', log, take: async (exchange) => inbox.receive(await exchange.body()) });
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { name, log = silentLogger, clock = systemClock, limits = {}, path, take } = options;
  const { connectionsPerAddress: ofOnePlace = 64, strangersBytes: bytes = 16_777_216 } = limits;
  const { headersMs: headersTimeout = 5_000, requestMs: requestTimeout = 10_000 } = limits;
  const connectionsCheckingInterval = Math.min(1_000, headersTimeout); // by default Node looks every 30 seconds
  const refusals = new Refusals(name, log, clock);
  // in the order in which they are answered: a client may ask again before it has its answer
  const underWay = new WeakMap<Socket, Set<ServerResponse>>();
  const turnAway = (socket: Socket, status: number, why: string): void => {
    refusals.count(why);
    const [answering] = underWay.get(socket) ?? [];
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n`;
    if (socket.writable && answering?.headersSent !== true)
      socket.write(`${head}content-length: 0\r\n\r\n`);
    socket.destroySoon();
  };
  const atMost = { ofOnePlace, inAll: ofOnePlace * 4, bytes };
  const strangers = new Strangers(atMost, (socket, why) => {
    turnAway(socket, 503, why);
    if (socket.writableLength > 0) socket.destroy(); // it does not read what it has asked for
  });
  const server = createServer(
    { headersTimeout, requestTimeout, connectionsCheckingInterval, requireHostHeader: false },
    (request, response) => {
      const answers = underWay.get(request.socket)?.add(response);
      response.once('close', () => answers?.delete(response));
      strangers.begin(request.socket);
      const wrong = problemOf(request);
      const exchange = exchangeOf(request, response, strangers, refusals);
      if (wrong !== undefined) exchange.refuse(400, wrong);
      else if (path !== undefined && exchange.path !== path)
        exchange.refuse(404, 'there is no such path');
      else if (path !== undefined && request.method !== 'POST') exchange.refuse(405, 'only POST');
      else void (async () => take(exchange))().catch(() => response.destroy());
    },
  );
  server.maxConnections = ofOnePlace * 8;
  server.on('connection', (socket: Socket) => {
    const answers = new Set<ServerResponse>();
    underWay.set(socket, answers);
    // of those that wait behind another one, Node does not say that they are closed
    socket.once('close', () => {
      for (const response of answers) if (!response.closed) response.emit('close');
    });
    strangers.enter(socket);
  });
  server.on('drop', () => refusals.count('too many connections'));
  server.on('connect', ({ socket }) => turnAway(socket, 405, 'no proxy'));
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') turnAway(socket, 408, 'too slow');
    else if (code === 'HPE_HEADER_OVERFLOW') turnAway(socket, 431, 'too large a head');
    else if (code.startsWith('HPE_')) turnAway(socket, 400, 'no request');
    else socket.destroy(); // it has gone
  });
  if (options.unref === true) server.unref();
  const { socketPath } = options;
  if (socketPath === undefined) server.listen(options.port, options.host);
  else server.listen(socketPath);
  await once(server, 'listening');
  server.on('error', () => undefined); // a connection that cannot be accepted: its request comes again
  const at = socketPath === undefined && (server.address() as AddressInfo); // it listens on a port, not on a pipe
  return {
    port: at ? at.port : 0,
    url: at
      ? `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
      : `unix:${socketPath}`,
    close: async (graceMs = 0) => {
      const closed = once(server, 'close');
      server.close();
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(cut);
      refusals[Symbol.dispose]();
    },
  };
}

/**
 * Compares a secret in the same time whatever was given. An empty secret is none: nothing is the same.
 *
 * @example
 * if (!isSameSecret(request.headers['x-secret'], secret)) return exchange.refuse(401, 'the secret is missing or wrong');
 */
export function isSameSecret(given: string | string[] | undefined, secret: string): boolean {
  if (typeof given !== 'string' || secret === '') return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  strangers: Strangers,
  refusals: Refusals,
): Exchange {
  const { socket } = request;
  let isKnown = false;
  let held = 0;
  let counted: string | undefined;
  const hold = (bytes: number): void => {
    if (isKnown) return;
    held += bytes;
    strangers.hold(socket, bytes);
  };
  response.once('close', () => {
    const { statusCode: status } = response;
    const isRefused = status >= 400 && status < 500 && status !== 404; // nothing is there to be refused
    const why = counted ?? (status === 401 ? exchange.why : undefined);
    if (isRefused && (status === 401 || !isKnown))
      refusals.count(why ?? STATUS_CODES[status] ?? '');
    hold(-held);
    if (isKnown) strangers.know(socket, -1);
  });
  const exchange: Exchange = {
    request,
    response,
    path: request.url?.split('?', 1)[0] ?? '',
    known: () => {
      if (isKnown) return;
      hold(-held);
      isKnown = true;
      strangers.know(socket, 1);
    },
    body: (maxBytes = usualBodyBytes) =>
      new Promise((resolve) => {
        const chunks: Buffer[] = [];
        let left = maxBytes;
        const read = (chunk: Buffer): void => {
          left -= chunk.length;
          if (left >= 0) chunks.push(chunk);
          hold(chunk.length + pieceBytes);
          if (left < 0) tooLarge();
        };
        const tooLarge = (): void => {
          request.off('data', read);
          chunks.length = 0;
          hold(-held);
          exchange.refuse(413, `a body may have ${maxBytes} bytes`);
          resolve(undefined);
        };
        request.on('close', () => resolve(undefined)); // after the end it changes nothing
        if (Number(request.headers['content-length'] ?? 0) > maxBytes) tooLarge();
        else request.on('data', read).on('end', () => resolve(Buffer.concat(chunks)));
      }),
    answer: (status, body) => {
      request.resume(); // what nobody has read is read away, within its time
      if (response.headersSent) return;
      const isText = body === undefined || typeof body === 'string';
      if (!isText) response.setHeader('content-type', 'application/json; charset=utf-8');
      response.writeHead(status).end(isText ? body : JSON.stringify(body));
    },
    refuse: (status, why) => {
      counted = why;
      exchange.answer(status, { error: why });
    },
  };
  return exchange;
}

/** Says what is wrong with the head of a request. A target with the host of its header becomes a path. */
function problemOf(request: IncomingMessage): string | undefined {
  const { url = '', rawHeaders, headers } = request;
  const names = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  const isOld = request.httpVersion === '1.0'; // it may have none
  if (names.length !== 1 && !(isOld && names.length === 0)) return 'a request has one Host';
  if (url.startsWith('/')) return undefined;
  const own = `http://${headers.host}`;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'the target of a request is a path';
  const { host, pathname, search } = new URL(url);
  if (!URL.canParse(own) || new URL(own).host !== host) return 'the target names another host';
  request.url = pathname + search;
  return undefined;
}

const reportEveryMs = 60_000;

/** Counts the requests that a receiver refuses. The first one is told at once, and the others with their number, once a minute. */
class Refusals implements Disposable {
  readonly #receiver: string;
  readonly #log: Logger;
  readonly #timer: Timer;
  readonly #counts = new Map<string, number>();

  constructor(receiver: string, log: Logger, clock: Clock) {
    this.#receiver = receiver;
    this.#log = log;
    this.#timer = new Timer(clock);
  }

  /** @param why one of few texts: never a word of whoever asked. */
  count(why: string): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1);
    if (!this.#timer.isSet) this.#report();
  }

  #report(): void {
    if (this.#counts.size === 0) return;
    const refused = Object.fromEntries(this.#counts);
    this.#log.warn('requests were refused', { receiver: this.#receiver, refused });
    this.#counts.clear();
    this.#timer.setIdly(reportEveryMs, () => this.#report());
  }

  /** Tells of those that were not told yet. */
  [Symbol.dispose](): void {
    this.#report();
    this.#timer.clear();
  }
}
