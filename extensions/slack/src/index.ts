import { defineExtension } from 'sluice';
import { policiesOf } from 'sluice/chat';

import { slackChannel } from './channel.js';
import { config, rulesOf } from './config.js';
import { declaration } from './declaration.js';

/** Slack as a channel. The README has the settings. */
export default defineExtension({
  id: 'slack',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['provide:channel'] },
  config,
  declares: { channel: declaration },
  setup(api, settings) {
    const { clock, log } = api;
    const channel = slackChannel({ config: settings, clock, log });
    api.provide('channel', channel);

    api.observe('account.started', 'greet', ({ payload }) => {
      if (payload.channel !== channel.id) return;
      const name = channel.account(payload.accountId)?.bot.name;
      log.info(`@${name} takes messages`, { accountId: payload.accountId });
      const { dmPolicy, groupPolicy } = policiesOf(rulesOf(settings));
      if (dmPolicy === 'open' || groupPolicy === 'open')
        log.warn(`anyone in the workspace may write to @${name}; config.allowFrom names who may`);
    });
  },
});
