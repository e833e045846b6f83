import { defineExtension } from 'sluice';
import { policiesOf } from 'sluice/chat';

import { telegramChannel } from './channel.js';
import { config } from './config.js';
import { declaration } from './declaration.js';

/** Telegram as a channel. The README has the settings. */
export default defineExtension({
  id: 'telegram',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['provide:channel'] },
  config,
  declares: { channel: declaration },
  setup(api, settings) {
    const { clock, log, store } = api;
    const channel = telegramChannel({ config: settings, clock, log, store });
    api.provide('channel', channel);

    api.observe('account.started', 'greet', ({ payload }) => {
      if (payload.channel !== channel.id) return;
      const bot = channel.account(payload.accountId)?.bot;
      log.info(`@${bot?.username} takes messages`, { accountId: payload.accountId });
      const { dmPolicy, groupPolicy } = policiesOf(settings);
      if (dmPolicy === 'open' || groupPolicy === 'open')
        log.warn(`anyone may write to @${bot?.username}; config.allowFrom names who may`);
    });
  },
});
