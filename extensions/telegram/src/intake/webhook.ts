import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Logger } from 'sluice';
import { isUpdate } from '../ingress/decode.js';
import type { Intake, IntakeSink } from './intake.js';
import { PendingUpdates } from './pending-updates.js';

/** The most that one update may hold, in bytes. */
const bodyLimit = 1_048_576;

/**
 * Milliseconds after which an update is answered although it is not done with: Telegram has few connections (40 where it is
 * told nothing), and brings nothing more when all of them wait.
 */
const patienceMs = 10_000;

/** The parts that a webhook works with. */
export interface WebhookParts {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The secret that Telegram sends with each update. Nobody else knows it. */
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sink: IntakeSink;
}

/**
 * Takes updates that Telegram brings. One is answered when it is done with, or after ten seconds; until then Telegram may
 * bring it again, and that waits, too. A request without the secret is refused before it is read.
 */
export async function startWebhook(
  parts: WebhookParts,
): Promise<Intake & { readonly port: number }> {
  const { host, path, secret, clock, log, sink } = parts;
  const pending = new PendingUpdates();
  const waiting = new Map<number, ServerResponse[]>();
  let isStopping = false;

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.split('?')[0] !== path) return answer(response, 404);
    if (request.method !== 'POST') return answer(response, 405);
    if (!isSame(request.headers['x-telegram-bot-api-secret-token'], secret)) {
      log.warn('an update without the secret was refused');
      return answer(response, 401);
    }
    if (isStopping) return answer(response, 503);
    const body = await bodyOf(request);
    if (body === undefined) return answer(response, 413);
    const update = parsed(body);
    if (!isUpdate(update)) return answer(response, 400);
    const { update_id: id } = update;
    const isNew = pending.take(id);
    if (!isNew && !pending.has(id)) return answer(response, 200); // it is done with
    const others = waiting.get(id);
    if (others !== undefined) others.push(response);
    else waiting.set(id, [response]);
    const timer = clock.setTimeout(() => passOver(id), patienceMs);
    response.once('close', () => clock.clearTimeout(timer));
    if (!isNew || (await sink.take(update)) !== 'refused') return;
    pending.refuse(id);
    release(id, 503); // it comes again
  };

  const release = (id: number, status: number): void => {
    for (const response of waiting.get(id) ?? []) answer(response, status);
    waiting.delete(id);
  };

  const passOver = (id: number): void => {
    if (!waiting.has(id)) return;
    log.warn(
      'an update of Telegram is confirmed before it is answered, so that others come: it is lost if the host ends now; a journal would keep it',
    );
    release(id, 200);
  };

  const server = createServer((request, response) => {
    take(request, response).catch(() => answer(response, 400)); // the connection broke
  });
  server.listen(parts.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe

  return {
    port,
    stop: async () => {
      isStopping = true;
    },
    finish: (updateId) => {
      pending.finish(updateId);
      release(updateId, 200);
    },
    close: async () => {
      isStopping = true;
      for (const responses of waiting.values())
        for (const response of responses) answer(response, 503);
      waiting.clear();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function answer(response: ServerResponse, status: number): void {
  if (response.writableEnded) return;
  response.writeHead(status, { connection: status === 200 ? 'keep-alive' : 'close' }).end();
}

/** Compares in the same time whatever was given. */
function isSame(given: string | string[] | undefined, secret: string): boolean {
  if (typeof given !== 'string') return false;
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
