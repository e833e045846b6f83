import { allow, cancel, defineExtension } from 'sluice';
import { httpChannel } from './channel.js';
import { config } from './config.js';
import { declaration } from './declaration.js';

/** HTTP as a channel: chat completions, webhooks and a chat page. The README has the settings. */
export default defineExtension({
  id: 'http',
  manifest: {
    version: '0.2.0',
    sluice: '~0.2.0',
    grants: ['provide:channel', 'veto:egress.preparing'],
  },
  config,
  declares: { channel: declaration },
  setup(api, settings) {
    const { clock, log, store } = api;
    const channel = httpChannel({ config: settings, clock, log, store });
    api.provide('channel', channel);

    const guard = { match: { channel: channel.id }, failClosed: true, preview: 'ok' } as const;
    api.veto('egress.preparing', 'unasked', guard, ({ payload }) =>
      channel.wantsNoAnswer(payload.to)
        ? cancel('policy', { text: 'nobody is to be answered there' })
        : allow(),
    );
    api.observe('agent.starting', 'begun', ({ event }) => channel.turn(event.messageRef, true));
    api.observe('agent.completed', 'done', ({ event }) => channel.turn(event.messageRef, false));
    api.observe('account.started', 'greet', ({ payload }) => {
      if (payload.channel !== channel.id) return;
      log.info(`open ${channel.url} in a browser; OpenAI clients use ${channel.url}/v1`);
    });
  },
});
