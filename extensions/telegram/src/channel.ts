import process from 'node:process';
import { type Clock, type Logger, silentLogger, systemClock } from 'sluice';
import type { ChannelPlugin } from 'sluice/channel';
import { ChatAccounts } from 'sluice/chat';
import { startAccount, type TelegramAccount } from './account.js';
import type { TelegramConfig } from './config.js';
import { declaration } from './declaration.js';
import { telegramSurface } from './egress/surface.js';
import { decodeUpdate } from './ingress/decode.js';
import { followMoves, type MoveStore } from './moves.js';
import { readToken } from './token.js';

/** The options of the channel. */
interface TelegramChannelOptions {
  /** The settings, as the extension's schema has read them. */
  readonly config: TelegramConfig;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** The environment with tokens and secrets; by default that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Keeps the new ids of groups; by default they are known until the process ends. */
  readonly store?: MoveStore;
}

/** Telegram as a channel. */
export interface TelegramChannel extends ChannelPlugin {
  /** An account that is connected. */
  account(accountId: string): TelegramAccount | undefined;
}

/**
 * Telegram as a channel, on the Bot API: polled, or by a webhook. An update is confirmed when the host has done with
 * it. A send that nobody knows the end of is never made again.
 *
 * @example
 * const channel = telegramChannel({ config: config.parse({ allowFrom: ['ada'] }) });
 */
export function telegramChannel(options: TelegramChannelOptions): TelegramChannel {
  const { clock = systemClock, log = silentLogger, env = process.env, store } = options;
  const config = { ...options.config, groups: { ...options.config.groups } };
  const moves = followMoves(config.groups, log, store);
  const accounts = new ChatAccounts<TelegramAccount>();
  const surface = telegramSurface({
    apiOf: (accountId) => accounts.get(accountId)?.api,
    config,
    onMoved: (from, to) => void moves.learn(from, to),
  });

  return {
    id: declaration.id,
    accounts: Object.keys(config.accounts),
    capabilities: {
      threads: true,
      attachments: true,
      everyHost: config.webhook !== undefined,
      interactive: ['buttons', 'list'],
      ...(config.streaming && { canStreamResponse: true }),
    },
    resendPolicy: { ambiguous: 'fail', maxAttempts: 5, maxWaitMs: 120_000 },

    account: (accountId) => accounts.get(accountId),

    checkAccount: async (accountId) => {
      await readToken(config.accounts[accountId] ?? {}, env);
    },

    startAccount: (accountId, inbox) =>
      accounts.start(accountId, inbox, async () => {
        await moves.load();
        return startAccount({ accountId, config, clock, log, env, moves }, inbox);
      }),

    stopIntake: async (accountId) => accounts.get(accountId)?.intake.stop(),

    stopAccount: async (accountId) => accounts.stop(accountId)?.intake.close(),

    decodeIngress: (raw, accountId) => {
      const account = accounts.get(accountId);
      if (account === undefined) throw new Error(`account "${accountId}" is not connected`);
      const { bot, edits } = account;
      return decodeUpdate(raw, { accountId, bot, config, edits });
    },

    ack: async (accountId, { updateId }) => {
      accounts.get(accountId)?.intake.finish(Number(updateId));
    },

    ...accounts.outgoing(surface, { clock, log, isStreaming: config.streaming }),
  };
}
