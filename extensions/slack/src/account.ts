import type { Clock, Logger } from 'sluice';
import type { ChannelInbox } from 'sluice/channel';
import { type Delivery, PendingAcks, startFailure } from 'sluice/chat';
import { createWebApi, type WebApi } from './api/web-api.js';
import type { SlackConfig } from './config.js';
import { type BotIdentity, decodeUpdate } from './ingress/decode.js';
import { type SlackUpdate, slackUpdate, updateIdOf } from './ingress/update.js';
import { startEvents } from './intake/events.js';
import type { Intake, IntakeParts } from './intake/intake.js';
import { startSocket } from './intake/socket.js';
import { type Env, readSecret } from './secrets.js';

/** Milliseconds after which a delivery is answered although its update is not done with: Slack waits three seconds. */
const patienceMs = 2_500;

/** The parts that an account is started with. */
interface AccountParts {
  readonly accountId: string;
  readonly config: SlackConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Env;
  /** Is told whose bot it is, before its updates come. */
  readonly onBot: (bot: BotIdentity) => void;
}

/** An app that is connected. */
export interface SlackAccount {
  readonly api: WebApi;
  readonly bot: BotIdentity;
  /** The port on which it listens for events, if it does. */
  readonly port?: number;
  /** Takes no more in. */
  stop(): void;
  /** Says that an update is done with, or kept. */
  finish(updateId: string): void;
  close(): Promise<void>;
}

/** The secrets of an account, each read and looked at. @throws Error that says which is missing or cannot be right. */
export function secretsOf(parts: Pick<AccountParts, 'accountId' | 'config' | 'env'>) {
  const { accountId, config, env } = parts;
  const account = config.accounts[accountId] ?? {};
  const key = account.events === undefined ? 'appToken' : 'signingSecret';
  return { botToken: readSecret('botToken', account, env), other: readSecret(key, account, env) };
}

/**
 * Connects an app: its token is tried, and its events begin to come.
 *
 * @throws Error that says what is wrong and what to do; it never holds a secret.
 */
export async function startAccount(
  parts: AccountParts,
  inbox: ChannelInbox,
): Promise<SlackAccount> {
  const { accountId, config, clock, log } = parts;
  const { botToken, other } = secretsOf(parts);
  const { apiRoot } = config;
  const api = createWebApi({ token: botToken, apiRoot, clock });
  const bot = await identityOf(api);
  parts.onBot(bot);
  const context = { accountId, bot, config };
  let isStopping = false;

  const acks = new PendingAcks(clock, {
    patienceMs,
    onEarly: () =>
      log.debug(
        'an update of Slack is acknowledged before it is answered: it is lost if the host ends now; a journal would keep it',
      ),
  });
  const ended = (reason: string, detail: string): void => {
    log.error(`account ${accountId} takes in no more: ${reason}`, { detail });
    inbox.ended({ reason: `${reason}: ${detail}` });
  };

  const hand = async (raw: SlackUpdate, updateId: string | undefined): Promise<void> => {
    const taken = await inbox.receive({
      raw,
      receivedAtMs: clock.now(),
      ...(updateId !== undefined && { updateId }),
    });
    if (taken === 'refused') {
      if (updateId !== undefined) acks.refuse(updateId);
      return;
    }
    if (updateId !== undefined) acks.taken(updateId);
    assist(raw);
  };

  /** Says in a thread of an assistant that an answer comes, and what may be asked. Nothing depends on it. */
  const assist = (raw: SlackUpdate): void => {
    const { status, prompts = [] } = config.assistant ?? {};
    const { event } = raw.body;
    if (event?.type === 'assistant_thread_started' && prompts.length > 0) {
      const { channel_id, thread_ts } = Object(event['assistant_thread']); // Slack checks what it is given
      void api.call('assistant.threads.setSuggestedPrompts', { channel_id, thread_ts, prompts });
    }
    const decoded = status === undefined ? undefined : decodeUpdate(raw, context);
    if (decoded?.kind !== 'message' || decoded.message.isGroup === true) return;
    const { conversationId, threadId } = decoded.message;
    if (threadId === undefined) return;
    const place = { channel_id: conversationId, thread_ts: threadId };
    void api.call('assistant.threads.setStatus', { ...place, status });
  };

  const take = (type: string, body: unknown, delivery: Delivery): void => {
    if (isStopping) {
      delivery.refuse();
      return;
    }
    const { token: _token, ...rest } = Object(body) as Readonly<Record<string, unknown>>; // an old secret of the app
    const read = slackUpdate.safeParse({ type, body: rest });
    if (!read.success) {
      delivery.done(); // what Slack adds one day
      return;
    }
    const updateId = updateIdOf(read.data);
    const { event } = read.data.body;
    if (event !== undefined && isTakenOut(event)) {
      delivery.done();
      ended('the app was taken out of the workspace', event.type);
      return;
    }
    if (updateId === undefined) delivery.done();
    else if (!acks.take(updateId, delivery)) return;
    void hand(read.data, updateId);
  };

  const intake = await startIntake(parts, other, { clock, log, take, ended });
  const { port } = intake;
  return {
    ...{ api, bot },
    ...(port !== undefined && { port }),
    stop: () => {
      isStopping = true;
    },
    finish: (updateId) => acks.finish(updateId),
    close: async () => {
      isStopping = true;
      acks.close();
      await intake.close();
    },
  };
}

/** Returns whether an event says that the bot's token works no more. Tokens of members are revoked, too. */
function isTakenOut(event: { readonly type: string; readonly [field: string]: unknown }) {
  const { type, tokens } = event;
  const { bot } = Object(tokens) as { readonly bot?: unknown };
  const isRevoked = type === 'tokens_revoked' && Array.isArray(bot) && bot.length > 0;
  return isRevoked || type === 'app_uninstalled';
}

function startIntake(
  { accountId, config }: AccountParts,
  secret: string,
  parts: IntakeParts,
): Promise<Intake> {
  const { events } = config.accounts[accountId] ?? {};
  return events === undefined
    ? startSocket({ appToken: secret, apiRoot: config.apiRoot, ...parts })
    : startEvents({ ...events, signingSecret: secret, ...parts });
}

async function identityOf(api: WebApi): Promise<BotIdentity> {
  const me = await api.call('auth.test', {});
  if (me.status !== 'done') throw startFailure('Slack', 'does not take the bot token', me);
  const { user_id: userId, user: name, bot_id: botId } = me.result;
  if (typeof userId !== 'string' || typeof name !== 'string')
    throw new Error('Slack cannot be reached: what answers at its address (apiRoot) names no bot');
  return { userId, name, ...(typeof botId === 'string' && { botId }) };
}
