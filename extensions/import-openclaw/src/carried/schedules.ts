import type { ChannelPlugin, ExtensionApi } from 'sluice';
import { type ChannelInbox, checkPermit } from 'sluice/channel';
import type { Schedule } from './settings.js';

/** The channel by which a schedule speaks to its agent. */
export const scheduleChannelId = 'openclaw-schedule';

/**
 * A channel whose messages are the texts of schedules. The answer of the agent goes to the address of the schedule.
 *
 * @example
 * api.provide('channel', scheduleChannel(api, [{ name: 'tea', cron: '0 16 * * *', agentId: 'main', sessionKey: 'agent:main:main', text: 'Tea?' }]));
 */
export function scheduleChannel(api: ExtensionApi, schedules: readonly Schedule[]): ChannelPlugin {
  let inbox: ChannelInbox | undefined;
  const named = (name: unknown): Schedule | undefined => schedules.find((one) => one.name === name);
  for (const { name, cron, at, timeZone } of schedules) {
    const zone = timeZone === undefined ? {} : { timeZone };
    api.schedule(
      name,
      cron === undefined ? { at: at ?? '', ...zone } : { cron, ...zone },
      async ({ id }) => {
        if (inbox === undefined)
          throw new Error(
            `the channel "${scheduleChannelId}" is not started: name it in "channels"`,
          );
        const taken = await inbox.receive({ raw: name, updateId: id });
        if (taken === 'refused') throw new Error('the host takes no message now');
      },
    );
  }
  return {
    id: scheduleChannelId,
    capabilities: {},
    accounts: ['default'],
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (_accountId, opened) => {
      inbox = opened;
    },
    stopIntake: async () => {
      inbox = undefined;
    },
    stopAccount: async () => undefined,
    decodeIngress: (raw, accountId) => {
      const schedule = named(raw);
      if (schedule === undefined) return { kind: 'ignored', reason: 'its schedule is gone' };
      const { name, text, agentId, sessionKey } = schedule;
      const message = {
        channel: scheduleChannelId,
        accountId,
        from: `${scheduleChannelId}:${name}`,
        conversationId: name,
      };
      return {
        kind: 'message',
        message: { ...message, content: text, attachments: [], metadata: {} },
        route: { agentId, sessionKey },
      };
    },
    send: async (permit) => {
      checkPermit(permit, inbox);
      const { content, to } = permit.take();
      const schedule = named(to.replace(`${scheduleChannelId}:`, ''));
      if (
        schedule?.to !== undefined &&
        !(schedule.silent !== undefined && content.includes(schedule.silent))
      )
        await api.send({ ...schedule.to, content, key: permit.idempotencyKey });
      return { status: 'sent', receipt: {} };
    },
  };
}
