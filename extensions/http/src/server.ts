import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Clock, Logger } from 'sluice';
import { startHealthServer } from 'sluice/host';
import type { HttpConfig } from './config.js';
import { type Caller, callerOf } from './keys.js';
import {
  type Asked,
  type NeededPlaces,
  Places,
  placesOfHook,
  placesOfKey,
  placesOfPerson,
} from './places.js';
import { busy, later, refusal } from './refusal.js';

/** Answers a request with a key. @param hasPlace takes a place of a person of a front end, and says whether there was one. */
type Answering = (
  caller: Caller,
  request: Request,
  response: ServerResponse,
  hasPlace: (senderId: string) => boolean,
) => Promise<Response>;

/** The answers of a server. */
export interface ServedParts extends Readonly<Record<Asked, Answering>> {
  readonly config: HttpConfig;
  readonly clock: Clock;
  readonly log: Logger;
  hook(name: string, request: Request, response: ServerResponse): Promise<Response>;
}

/** A request that may be answered once its body is read. */
interface Judged {
  /** A key has proven its sender. */
  readonly isProven: boolean;
  readonly needs: NeededPlaces;
  handle(request: Request, response: ServerResponse): Promise<Response>;
}

/** A server that listens. */
export interface Served {
  readonly url: string;
  /** Takes no more requests in; those under way go on. */
  stop(): void;
  close(): Promise<void>;
}

/** The paths of requests with a key, beside the list of models. */
const askedAt: Readonly<Partial<Record<string, Asked>>> = {
  ...{ '/v1/chat/completions': 'chat', '/v1/presses': 'press' },
};
/** Milliseconds in which a client has to read what is left of an answer that has ended. */
const readWithinMs = 60_000;
/** Milliseconds in which a client can read the end of its answer when the host stops. */
const lastWordsMs = 2_000;

/** Listens as the port of a host does, with its bounds and its checks of `Host` and `Origin`, and answers requests. */
export async function serve(parts: ServedParts): Promise<Served> {
  const { config, clock, log } = parts;
  const { address, port, hosts, maxBodyBytes, webhooks } = config;
  const { connectionsPerAddress } = config;
  const files = pageFiles(config);
  const model = { object: 'model', created: 0, owned_by: 'sluice' };
  const models = Object.keys(config.models).map((id) => ({ id, ...model }));
  const running = new Set<ServerResponse>();
  const places = new Places();
  let isStopping = false;

  /** Finds out what a request is answered by, from its head alone. */
  const judge = (method: string, path: string, authorization = ''): Response | Judged => {
    const file = files.get(path);
    if (file !== undefined) return new Response(file.text, file);
    const hook = /^\/hooks\/([\w.-]+)$/.exec(path)?.[1] ?? '';
    const isHook = Object.hasOwn(webhooks, hook);
    const isModels = path === '/v1/models';
    const asked = askedAt[path];
    if (!isHook && !isModels && asked === undefined)
      return refusal(404, 'no-such-path', 'there is no such path');
    if (method !== (isModels ? 'GET' : 'POST'))
      return refusal(405, 'wrong-method', `${path} is for ${isModels ? 'GET' : 'POST'}`);
    const caller = callerOf(config, authorization);
    if (!isHook && caller === undefined)
      return refusal(401, 'invalid_api_key', 'the key is missing or wrong');
    if (isModels) return Response.json({ object: 'list', data: models });
    if (isStopping) return later('stopping', 'the host stops');
    const judged: Judged =
      asked === undefined || caller === undefined
        ? {
            ...{ isProven: false, needs: placesOfHook(config, hook) },
            handle: (...asked) => parts.hook(hook, ...asked),
          }
        : {
            ...{ isProven: caller.isProven, needs: placesOfKey(config, caller, asked) },
            handle: (request, response) =>
              parts[asked](
                ...[caller, request, response],
                (senderId) =>
                  !caller.isFrontEnd || places.take(placesOfPerson(senderId, asked), response),
              ),
          };
    return places.areFree(judged.needs) ? judged : busy();
  };

  const answer = async (request: Request, response: ServerResponse): Promise<Response> => {
    const { pathname: path } = new URL(request.url);
    const judged = judge(request.method, path, request.headers.get('authorization') ?? '');
    if (judged instanceof Response) return judged;
    response.setMaxListeners(20); // of those who wait for its end, and of Node's own
    if (!places.take(judged.needs, response)) return busy();
    running.add(response);
    response.once('close', () => running.delete(response));
    try {
      return await judged.handle(request, response);
    } catch (error) {
      log.error('a request failed', { path, error });
      return later('not-taken', 'it could not be kept: ask again');
    } finally {
      if (!response.closed) {
        const timer = clock.setTimeout(() => response.destroy(), readWithinMs);
        response.once('close', () => clock.clearTimeout(timer));
      }
    }
  };

  const server = await startHealthServer(
    {
      routes: {
        list: () => [],
        at: (at) => [{ extensionId: 'http', method: 'POST', path: at, maxBodyBytes }],
        answer: async (request, at) =>
          at === undefined ? later('stopping', 'nobody listens') : answer(request, at.response),
        open: () => ({ [Symbol.dispose]: () => undefined }),
        admit: (exchange) => {
          const { method = '', headers } = exchange.request;
          exchange.why = `no valid ${exchange.path.startsWith('/hooks/') ? 'signature' : 'key'}`;
          const judged = judge(method, exchange.path, headers.authorization);
          if (judged instanceof Response) return judged;
          if (judged.isProven) exchange.known();
          return undefined;
        },
      },
    },
    { address, port, hosts, clock, logger: log, name: 'http', connectionsPerAddress },
  );
  return {
    url: server.url,
    stop: () => {
      isStopping = true;
    },
    close: async () => {
      const read = Promise.all([...running].map((response) => once(response, 'close')));
      await new Promise<unknown>((resolve) => {
        const timer = clock.setTimeout(() => resolve(undefined), lastWordsMs);
        void read.finally(() => clock.clearTimeout(timer)).then(resolve);
      });
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A file of the chat page, with its headers. */
interface PageFile {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const built = new URL('../dist/page/', import.meta.url); // from the source as from the build
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The chat page by its paths, with a policy that lets a browser run its own script and nothing else. */
function pageFiles({ page, keys }: HttpConfig): ReadonlyMap<string, PageFile> {
  const files = [
    ['/', 'index.html', 'text/html'],
    ['/page/chat.js', 'chat.js', 'text/javascript'],
    ['/page/style.css', 'style.css', 'text/css'],
  ] as const;
  if (!page) return new Map();
  return new Map(
    files.map(([path, name, type]) => {
      const text = readFileSync(new URL(name, built), 'utf8');
      const headers = {
        ...{ 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy },
        ...{ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
        'cache-control': 'no-cache',
      };
      const told = text.replace('data-keys=""', `data-keys="${keys.length === 0 ? 'no' : 'yes'}"`);
      return [path, { text: told, headers }];
    }),
  );
}
