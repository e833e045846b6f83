import { chmod, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'sluice';
import { type Exchange, isSameSecret, type Receiver, startReceiver } from 'sluice/chat';
import { isRunning, publish, socketIn, tokenOf, unpublish } from './place.js';

/** The most that the input of a hook may have, in bytes. */
const bodyBytes = 10 * 1_048_576;

/** Connections of the agents of one machine that may wait to be known. */
const connections = 1_024;

/** Milliseconds in which answers that have begun go out when the door closes. */
const graceMs = 2_000;

/** A request of somebody who has the token. */
export interface Asked {
  /** The path in its parts, without the first slash. */
  readonly path: readonly string[];
  /** The body; nothing if it is larger than a body may be. */
  readonly body: Buffer | undefined;
  readonly isCommand: boolean;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer to a request; nothing if there is no such path. */
export type Answering = (asked: Asked) => Promise<object | undefined>;

/** The parts of a door. */
export interface DoorParts {
  /** The folder of the token and of the socket. */
  readonly folder: string;
  readonly port: number;
  readonly log: Logger;
  readonly answer: Answering;
  /** The answers of clients when the guard is away. */
  readonly whenAway: object;
}

/** An open door. */
export interface Door {
  readonly url: string;
  readonly socketPath: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens the door of a guard: HTTP at 127.0.0.1, and a Unix socket for the user of the folder.
 *
 * @throws Error if a guard of the folder runs already, the port is taken, or others may read the token.
 */
export async function openDoor({ folder, port, log, answer, whenAway }: DoorParts): Promise<Door> {
  const token = await tokenOf(folder);
  if (await isRunning(folder)) throw new Error(`a guard runs already for ${folder}`);
  const usual = {
    ...{ name: 'guard', host: '127.0.0.1', log, limits: { connectionsPerAddress: connections } },
    take: (exchange: Exchange) => take(exchange, token, answer),
  };
  const open: Receiver[] = [];
  const close = async (): Promise<void> => {
    for (const one of open) await one.close(graceMs);
  };
  try {
    const web = await startReceiver({ ...usual, port });
    open.push(web);
    const socketPath = socketIn(folder);
    if (socketPath === undefined) log.warn('there is no Unix socket: its path would be too long');
    else {
      await rm(socketPath, { force: true }); // of a guard that was killed
      open.push(await startReceiver({ ...usual, port: 0, socketPath }));
      await chmod(socketPath, 0o600);
    }
    const place = { port: web.port, ...(socketPath !== undefined && { socketPath }) };
    await publish(folder, place, whenAway);
    const ended = async (): Promise<void> => {
      await unpublish(folder);
      await close();
    };
    return { url: web.url, socketPath, close: ended };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function take(exchange: Exchange, token: string, answer: Answering): Promise<void> {
  const { request, response } = exchange;
  const { headers, method, url = '' } = request;
  const foreign = foreignTo(headers);
  if (foreign !== undefined) return exchange.refuse(403, foreign);
  if (method !== 'POST') return exchange.refuse(405, 'only POST');
  const given = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (!isSameSecret(given, token)) return exchange.refuse(401, 'the token is missing or wrong');
  exchange.known();
  const isTooLarge = Number(headers['content-length'] ?? 0) > bodyBytes;
  const body = isTooLarge ? undefined : await exchange.body(bodyBytes);
  if (response.headersSent || response.destroyed) return undefined;
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort('the agent has gone'); // an abort costs more than a verdict
  });
  const path = exchange.path.slice(1).split('/');
  const isCommand = url.endsWith('?transport=command');
  const said = await answer({ path, body, isCommand, signal: gone.signal });
  if (said === undefined) return exchange.refuse(404, 'there is no such agent, hook or point');
  return exchange.answer(200, said);
}

/** Says why a request cannot be of a program of this machine: a page has sent it, or a name was bound to this address. */
function foreignTo(headers: IncomingHttpHeaders): string | undefined {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return 'a page in a browser may not ask';
  if (/^(127\.0\.0\.1|localhost)(:\d+)?$/i.test(headers.host ?? '')) return undefined;
  return 'the Host of the request is not this machine';
}
