import process from 'node:process';
import { type Clock, type Logger, silentLogger, systemClock } from 'sluice';
import type { ChannelPlugin } from 'sluice/channel';
import { ChatAccounts } from 'sluice/chat';
import { type SlackAccount, secretsOf, startAccount } from './account.js';
import type { SlackConfig } from './config.js';
import { declaration } from './declaration.js';
import { slackSurface } from './egress/surface.js';
import { type BotIdentity, decodeUpdate } from './ingress/decode.js';
import type { Env } from './secrets.js';

/** The options of the channel. */
interface SlackChannelOptions {
  /** The settings, as the extension's schema has read them. */
  readonly config: SlackConfig;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** The environment with tokens and secrets; by default that of the process. */
  readonly env?: Env;
}

/** Slack as a channel. */
export interface SlackChannel extends ChannelPlugin {
  /** An account that is connected. */
  account(accountId: string): SlackAccount | undefined;
}

/**
 * Slack as a channel: by a socket, or by events over HTTP. An update is acknowledged when a journal keeps it, else when
 * the host has done with it or Slack waits no longer.
 *
 * @example
 * const channel = slackChannel({ config: config.parse({ allowFrom: ['U012AB3CD'] }) });
 */
export function slackChannel(options: SlackChannelOptions): SlackChannel {
  const { config, clock = systemClock, log = silentLogger, env = process.env } = options;
  const accounts = new ChatAccounts<SlackAccount>();
  const bots = new Map<string, BotIdentity>();
  const surface = slackSurface({
    ...{ clock, config },
    apiOf: (accountId) => accounts.get(accountId)?.api,
  });

  return {
    id: declaration.id,
    accounts: Object.keys(config.accounts),
    capabilities: {
      threads: true,
      attachments: true,
      everyHost: true, // Slack gives each update to one of the connections of an app
      interactive: ['buttons', 'list', 'form'],
      ...(config.streaming && { canStreamResponse: true }),
      ...(config.resend && { deduplicatesSends: true }),
    },
    resendPolicy: {
      ambiguous: config.resend ? 'resend' : 'fail',
      maxAttempts: 5,
      maxWaitMs: 120_000,
    },

    account: (accountId) => accounts.get(accountId),

    checkAccount: async (accountId) => void secretsOf({ accountId, config, env }),

    startAccount: (accountId, inbox) => {
      // its first update may come before it has started
      const onBot = (bot: BotIdentity): void => void bots.set(accountId, bot);
      const how = { accountId, config, clock, log, env, onBot };
      return accounts.start(accountId, inbox, () => startAccount(how, inbox));
    },

    stopIntake: async (accountId) => accounts.get(accountId)?.stop(),

    stopAccount: async (accountId) => {
      bots.delete(accountId);
      await accounts.stop(accountId)?.close();
    },

    decodeIngress: (raw, accountId) => {
      const bot = bots.get(accountId);
      if (bot === undefined) throw new Error(`account "${accountId}" is not connected`);
      return decodeUpdate(raw, { accountId, bot, config });
    },

    ack: async (accountId, { updateId = '' }) => accounts.get(accountId)?.finish(updateId),

    ...accounts.outgoing(surface, { clock, log, isStreaming: config.streaming }),
  };
}
