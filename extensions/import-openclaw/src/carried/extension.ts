import { allow, cancel, defineExtension, select } from 'sluice';
import { agentOf, isLetIn, maySend, type Origin, sessionKeyOf } from './place.js';
import { scheduleChannel } from './schedules.js';
import { settings } from './settings.js';

/**
 * Holds what an imported host had in OpenClaw and no setting of a config has: who may write where, which agent answers, in which
 * session, and what is done at times of the clock.
 */
export default defineExtension({
  id: 'openclaw-import',
  manifest: {
    version: '0.2.0',
    sluice: '~0.2.0',
    grants: [
      'veto:routing.resolving',
      'resolver:routing.resolving',
      'veto:egress.preparing',
      'provide:channel',
      'schedule',
      'send:*',
    ],
  },
  config: settings,
  setup(api, config) {
    const { access, bindings, sendPolicy, schedules } = config;
    const routeOf = (message: Origin) => {
      const agentId = agentOf(config, message);
      return { agentId, sessionKey: sessionKeyOf(config, agentId, message) };
    };
    const verdict = (isAllowed: boolean, text: string) =>
      isAllowed ? allow() : cancel('policy', { text });

    api.veto('routing.resolving', 'access', { failClosed: true }, ({ payload: { message } }) =>
      verdict(isLetIn(access, message), 'its sender is not allowed here'),
    );
    api.veto('routing.resolving', 'answers', { failClosed: true }, ({ payload: { message } }) =>
      verdict(
        maySend(sendPolicy, { ...message, ...routeOf(message) }),
        'the send policy denies it',
      ),
    );
    // the text does not count: a part of an answer may be shown before the whole is judged
    const sends = { failClosed: true, preview: 'ok' } as const;
    api.veto('egress.preparing', 'sends', sends, ({ payload }) =>
      verdict(maySend(sendPolicy, payload), 'the send policy denies it'),
    );
    const channels = new Set([
      ...Object.keys(access),
      ...bindings.map(({ match }) => match.channel),
    ]);
    api.resolve('routing.resolving', 'bindings', ({ payload: { message, explicitRoute } }) =>
      explicitRoute === undefined && channels.has(message.channel)
        ? select(routeOf(message))
        : undefined,
    );
    if (schedules.length > 0) api.provide('channel', scheduleChannel(api, schedules));
  },
});
