import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Clock, isSluiceError, type Logger, systemClock } from 'sluice';
import { type Exchange, isSameSecret, jsonOf, startReceiver } from 'sluice/chat';
import { type HostNames, hostCheck } from 'sluice/host';
import { type Answers, answersOf, type Given } from './answers.js';
import { RequestProblem } from './problem.js';
import { Sessions } from './sessions.js';
import type { InspectorSource } from './source.js';
import { streamCounts } from './stream.js';

/** How an inspector is served. */
export interface InspectorOptions {
  /** 0 for one that is free, which is the default. */
  readonly port?: number;
  /** The address to listen at, by default `127.0.0.1`. */
  readonly address?: string;
  /** Names beside `localhost` that it may be asked by at a loopback address. */
  readonly hosts?: readonly string[];
  /** The page may change things: retry, purge, answer, reload, stop a turn. By default it may not. */
  readonly write?: boolean;
  /** The page may search in texts of messages, as far as the journal keeps them. By default it may not. */
  readonly text?: boolean;
  /** Connections of one address that have not shown the token yet, by default 64: more for a proxy, whose address all have. */
  readonly connectionsPerAddress?: number;
  /** Is told of refused requests, with their number; without it nobody is. */
  readonly log?: Logger;
  readonly clock?: Clock;
}

/** An inspector that is served. To dispose it ends what is under way. */
export interface Inspector extends AsyncDisposable {
  /** The address of the page, with the token that opens it in its fragment. */
  readonly url: string;
}

/** Pages that listen for events at once. The next one takes the place of the one that has listened longest, which asks again later. */
const streamsAtMost = 16;
/** Milliseconds after which a page that has lost its place asks for one again. */
const evictedRetryMs = 60_000;

/**
 * Serves the page on a journal, and on its host if one runs here.
 *
 * @throws the error of listening: the port is taken, say.
 * @example
 * await using inspector = await startInspector({ name: 'sluice.db', reader });
 * console.log(inspector.url);
 */
export async function startInspector(
  source: InspectorSource,
  options: InspectorOptions = {},
): Promise<Inspector> {
  const { port = 0, address = '127.0.0.1', hosts: names = [], clock = systemClock } = options;
  const { write = false, text = false, log, connectionsPerAddress: places } = options;
  const token = randomBytes(24).toString('base64url');
  const sessions = new Sessions(clock);
  const guard = guardOf({ address, names }, (request, path) =>
    path === '/api/login' || request.headers.authorization !== undefined
      ? isSameSecret(request.headers.authorization, `Bearer ${token}`)
      : sessions.knows(request, path !== '/api/events'),
  );
  const files = pageFiles();
  const ended = new AbortController();
  const answers = answersOf(source, { write, text, clock, signal: ended.signal });
  const streams = new Set<AbortController>();

  const serve = async (exchange: Exchange): Promise<void> => {
    const { request, response } = exchange;
    setSafeHeaders(response);
    const given = request.url ?? '/';
    const url = URL.canParse(given, 'http://localhost')
      ? new URL(given, 'http://localhost')
      : new URL('http://localhost/nothing'); // "//" is no address
    const { pathname: path } = url;
    const isData = path.startsWith('/api/');
    const [status, why] = guard(request, path);
    if (why !== undefined) return exchange.refuse(status, why);
    if (isData) exchange.known();
    if (request.method === 'POST' && (path === '/api/login' || path === '/api/logout'))
      return enter(exchange, path === '/api/login');
    if (request.method !== 'POST') request.resume(); // nobody reads its body
    if (path === '/api/events' && request.method === 'GET') return stream(response);
    if (isData) return answerData(answers, url, exchange);
    const file = files.get(path);
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD'))
      return exchange.answer(404, { error: 'there is no such page' });
    const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    response.setHeader('content-type', file.type);
    if (isPacked) response.setHeader('content-encoding', 'gzip');
    response.end(isPacked ? file.packed : file.plain);
  };

  const enter = (exchange: Exchange, isEntry: boolean): void => {
    const { request, response } = exchange;
    request.resume(); // it has no body
    const { cookie, ...answer } = isEntry
      ? sessions.open(request)
      : { cookie: sessions.close(request) };
    response.setHeader('set-cookie', cookie);
    exchange.answer(200, answer);
  };

  const stream = async (response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    const [oldest] = streams;
    if (streams.size >= streamsAtMost) oldest?.abort();
    streams.add(gone);
    gone.signal.addEventListener('abort', () => {
      streams.delete(gone);
      if (response.writableEnded) return;
      response.write(`retry: ${evictedRetryMs}\n\n`); // else pages take the places of each other without end
    });
    response.once('close', () => gone.abort());
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no', // a proxy hands each event on at once
    });
    response.write(': here\n\n');
    const signal = AbortSignal.any([gone.signal, ended.signal]);
    await streamCounts(response, source.reader, { signal, clock });
    response.end();
  };

  const receiver = await startReceiver({
    ...{ host: address, port, name: 'inspector', clock, unref: true },
    ...(log !== undefined && { log }),
    limits: places === undefined ? {} : { connectionsPerAddress: places },
    take: (exchange) =>
      serve(exchange).catch((error: unknown) => {
        if (exchange.response.headersSent) exchange.response.destroy();
        else exchange.answer(500, { error: textOf(error) });
      }),
  });
  return {
    url: `${receiver.url}/#token=${token}`,
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await receiver.close();
    },
  };
}

async function answerData(answers: Answers, url: URL, exchange: Exchange): Promise<void> {
  const { method = 'GET' } = exchange.request;
  const answer = answers.find(method, url.pathname.slice('/api/'.length));
  if (answer === undefined) return exchange.answer(404, { error: 'there is no such question' });
  try {
    const given = method === 'POST' ? await bodyOf(exchange) : Object.fromEntries(url.searchParams);
    if (given === undefined) return; // it is answered, or has gone
    exchange.answer(200, await answer(given));
  } catch (error) {
    const status = error instanceof RequestProblem ? error.status : 400;
    exchange.answer(status, { error: textOf(error) });
  }
}

/** @throws RequestProblem if the body is no object in JSON. */
async function bodyOf(exchange: Exchange): Promise<Given | undefined> {
  const body = await exchange.body();
  if (body === undefined) return undefined;
  const value = jsonOf(body.toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new RequestProblem('the request is no object in JSON');
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (isSluiceError(error) ? `${text} ${error.hint}` : text).slice(0, 1_000);
}

/** Says why a request gets nothing. */
type Refusal = readonly [status: number, why?: string];

/**
 * Makes the guard of a server, which judges requests before anything of the journal is read for them. A request for data has to
 * know the token, or be of a browser that has logged in. Another page of the browser, also one whose name points to this address, gets
 * nothing: the `Host` that it asks by is no name of this server, or its `Origin` or `Sec-Fetch-Site` tell of it.
 */
function guardOf(served: HostNames, isKnown: (request: IncomingMessage, path: string) => boolean) {
  const isServed = hostCheck(served);
  return (request: IncomingMessage, path: string): Refusal => {
    const { host, origin, 'sec-fetch-site': site } = request.headers;
    if (host === undefined || !isServed(host))
      return [421, 'this is not the host that was asked for'];
    const isOther = site !== undefined && site !== 'same-origin' && site !== 'none';
    if (isOther || (origin !== undefined && !isOwn(origin, host)))
      return [403, 'another page may not ask here'];
    if (path.startsWith('/api/') && !isKnown(request, path))
      return [401, 'the token is missing or wrong'];
    return [200];
  };
}

function isOwn(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

/** Sets the headers of every answer: nothing from outside is loaded, and no other page may hold this one. */
function setSafeHeaders(response: ServerResponse): void {
  const headers = {
    'content-security-policy':
      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/** A file of the page, as it goes out. */
interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Buffer;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Reads the files of the page, by their paths on the server. Nothing else of the disk can be asked for. */
function pageFiles(): ReadonlyMap<string, PageFile> {
  const built = fileURLToPath(new URL('../dist/', import.meta.url)); // from the source as from the build
  const files = new Map<string, PageFile>();
  for (const folder of ['page', 'vendor'])
    for (const name of readdirSync(`${built}${folder}`)) {
      const type = types[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined) continue;
      const plain = readFileSync(`${built}${folder}/${name}`);
      const file = { type, plain, packed: gzipSync(plain) };
      files.set(name === 'index.html' ? '/' : `/${folder}/${name}`, file);
    }
  return files;
}
