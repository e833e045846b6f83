import type { Update } from 'grammy/types';
import type { Clock, Logger } from 'sluice';
import type { ChannelInbox } from 'sluice/channel';
import { startFailure } from 'sluice/chat';
import { type ApiAnswer, type BotApi, createBotApi } from './api/bot-api.js';
import type { TelegramConfig } from './config.js';
import { judged } from './egress/surface.js';
import { decodeUpdate, wantedUpdates } from './ingress/decode.js';
import { Edits } from './ingress/edits.js';
import type { BotIdentity } from './ingress/mention.js';
import type { Intake } from './intake/intake.js';
import { startPolling } from './intake/polling.js';
import { startWebhook } from './intake/webhook.js';
import type { Moves } from './moves.js';
import { readToken } from './token.js';

/** The parts that an account is started with. */
interface AccountParts {
  readonly accountId: string;
  readonly config: TelegramConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly moves: Moves;
}

/** A bot that is connected. */
export interface TelegramAccount {
  readonly api: BotApi;
  readonly bot: BotIdentity;
  readonly intake: Intake;
  readonly edits: Edits;
  /** The address on which its webhook listens, if it has one. */
  readonly port?: number;
}

/**
 * Connects a bot: its token is read and tried, and its updates begin to come.
 *
 * @throws Error that says what is wrong and what to do; it never holds the token.
 */
export async function startAccount(
  parts: AccountParts,
  inbox: ChannelInbox,
): Promise<TelegramAccount> {
  const { accountId, config, clock, log, env, moves } = parts;
  const token = await readToken(config.accounts[accountId] ?? {}, env);
  const { apiRoot, webhook } = config;
  const api = createBotApi({ token, clock, ...(apiRoot !== undefined && { apiRoot }) });
  const me = needed(await api.call('getMe', {}), 'does not know this bot');
  const { id, username, has_topics_enabled } = me;
  if (id === undefined || username === undefined)
    throw new Error(
      'Telegram cannot be reached: what answers at its address (apiRoot) names no bot',
    );
  const bot = { id, username, hasTopics: has_topics_enabled === true };

  const take = async (update: Update): Promise<'refused' | undefined> => {
    const moved = moves.note(update); // before it is decoded
    if (moved !== undefined) await moved;
    const raw: unknown = update;
    const updateId = String(update.update_id);
    const taken = await inbox.receive({ raw, updateId, receivedAtMs: clock.now() });
    if (taken === 'refused') return taken;
    const { callback_query: press } = update;
    // so that the button stops showing that it waits; it says nothing
    if (press !== undefined && decodeUpdate(raw, { accountId, bot, config }).kind === 'interaction')
      void api.call('answerCallbackQuery', { callback_query_id: press.id }, { timeoutMs: 5_000 });
    return undefined;
  };
  const ended = (reason: string, detail: string): void => {
    log.error(`account ${accountId} takes in no more: ${reason}`, { detail });
    inbox.ended({ reason: `${reason}: ${detail}` });
  };
  const sink = { take, ended };

  if (webhook === undefined) {
    await freeFromWebhook(api, config);
    return { api, bot, edits: new Edits(), intake: startPolling({ api, clock, log, sink }) };
  }
  const { host, port, path, url, secretEnv } = webhook;
  const secret = secretOf(webhook.secret ?? env[secretEnv], secretEnv);
  const intake = await startWebhook({ host, port, path, secret, clock, log, sink });
  const account = { api, bot, edits: new Edits(), intake, port: intake.port };
  if (url === undefined) return account;
  const payload = { url, secret_token: secret, allowed_updates: wantedUpdates };
  const told = await api.call('setWebhook', payload);
  if (told.status !== 'done') await intake.close();
  needed(told, 'does not take the webhook');
  return account;
}

/** The result of a call that no account starts without. Nothing has checked it. */
function needed<T>(answer: ApiAnswer<T>, refused: string): Partial<T> {
  const told = judged(answer);
  if (told.status !== 'done') throw startFailure('Telegram', refused, told);
  return Object(told.result);
}

/** Telegram gives updates to a webhook or to who asks, never to both. One that is set may be somebody's. */
async function freeFromWebhook(api: BotApi, config: TelegramConfig): Promise<void> {
  const { url } = needed(await api.call('getWebhookInfo', {}), 'says nothing of webhooks');
  if (typeof url !== 'string')
    throw new Error(
      'Telegram cannot be asked: what answers at its address says nothing of webhooks',
    );
  if (url === '') return;
  if (!config.replaceWebhook)
    throw new Error(
      'a webhook is set for this bot, so it cannot be polled; remove it, or set config.replaceWebhook',
    );
  needed(await api.call('deleteWebhook', {}), 'does not remove the webhook');
}

/** The form of the secret that Telegram may send along: letters, digits, "_" and "-". */
function secretOf(found: string | undefined, place: string): string {
  if (found !== undefined && /^[\w-]{16,256}$/.test(found)) return found;
  throw new Error(
    `a webhook needs a secret: set ${place} to 16 to 256 letters, digits, "_" or "-", such as \`openssl rand -hex 32\` prints`,
  );
}
