import type { ServerResponse } from 'node:http';
import type { Clock, Logger } from 'sluice';
import { answer, isSameSecret, startReceiver } from 'sluice/chat';
import { isUpdate } from '../ingress/decode.js';
import type { Intake, IntakeSink } from './intake.js';
import { PendingUpdates } from './pending-updates.js';

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

  const take = async (body: string, response: ServerResponse): Promise<void> => {
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

  const receiver = await startReceiver({
    host,
    port: parts.port,
    path,
    refuse: ({ headers }) => {
      if (isSameSecret(headers['x-telegram-bot-api-secret-token'], secret))
        return isStopping ? 503 : undefined;
      log.warn('an update without the secret was refused');
      return 401;
    },
    take: (body, _, response) => take(body, response),
  });

  return {
    port: receiver.port,
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
      await receiver.close();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
