import { type Exchange, isSameSecret, jsonOf, PendingAcks, startReceiver } from 'sluice/chat';
import { isUpdate } from '../ingress/decode.js';
import { chatOf } from '../ingress/place.js';
import type { Intake, IntakeParts } from './intake.js';

/**
 * Milliseconds after which an update is answered although it is not done with: Telegram has few connections (40 where it is
 * told nothing), and brings nothing more when all of them wait.
 */
const patienceMs = 2_000;

/** Updates of one chat that wait so: a tenth of the connections. */
const share = 4;

/** The parts that a webhook works with. */
interface WebhookParts extends IntakeParts {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The secret that Telegram sends with each update. Nobody else knows it. */
  readonly secret: string;
}

/**
 * Takes updates that Telegram brings. One is answered when it is done with, or two seconds after it came, if the host has taken it
 * in, or when more of its chat wait; until then Telegram may bring it again, and that waits, too. A request without the secret is refused before it is read.
 */
export async function startWebhook(
  parts: WebhookParts,
): Promise<Intake & { readonly port: number }> {
  const { host, path, secret, clock, log, sink } = parts;
  let isStopping = false;
  const acks = new PendingAcks(clock, {
    patienceMs,
    share,
    onEarly: () =>
      log.warn(
        'an update of Telegram is confirmed before it is answered, so that others come: it is lost if the host ends now; a journal would keep it',
      ),
  });

  const take = async (exchange: Exchange): Promise<void> => {
    if (!isSameSecret(exchange.request.headers['x-telegram-bot-api-secret-token'], secret))
      return exchange.refuse(401, 'the secret is missing or wrong');
    exchange.known();
    if (isStopping) return exchange.answer(503);
    const body = await exchange.body();
    if (body === undefined) return;
    const update = jsonOf(body.toString('utf8'));
    if (!isUpdate(update)) return exchange.answer(400);
    const id = String(update.update_id);
    const delivery = { done: () => exchange.answer(200), refuse: () => exchange.answer(503) };
    const isNew = acks.take(id, delivery, String(chatOf(update)));
    if (!isNew) return;
    if ((await sink.take(update)) === 'refused') acks.refuse(id);
    else acks.taken(id);
  };

  const receiver = await startReceiver({
    ...{ host, port: parts.port, path, name: 'telegram', log, clock, take },
  });

  return {
    port: receiver.port,
    stop: async () => {
      isStopping = true;
    },
    finish: (updateId) => acks.finish(String(updateId)),
    close: async () => {
      isStopping = true;
      acks.close();
      await receiver.close();
    },
  };
}
