import { cancel, definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { same } from '../facts/field-table.js';
import { gatewayHooks } from '../hooks/gateway.js';
import { voidHook } from '../hooks/make-row.js';
import type { Answer } from '../hooks/row.js';
import type { LegacyGatewayContext, LegacyPlace, LegacySubagentContext } from '../hooks/shapes.js';
import { hostedHook } from './merging.js';
import type { LegacyClaimResult, LegacyTurnMessageContext } from './shapes.js';

/** The event of `cron_changed`. */
export interface CronChanged {
  action: PayloadOf<'schedule.changed'>['action'];
  jobId: string;
  job?: Open;
  runAtMs?: number;
  nextRunAtMs?: number;
  durationMs?: number;
  status?: 'ok' | 'error' | 'skipped';
  error?: string;
  runId?: string;
}

/** A schedule has no port of a gateway. */
const noPort = { port: { show: () => undefined } };

type Open = { [field: string]: unknown };
type Paired = { accountId?: string };

/** A hook that tells of something that a host of Sluice does not do. */
const untold = <Event extends object>(why: string) =>
  hostedHook<Event, Open>()({
    kind: 'void',
    why: `Not called: ${why}`,
    merge: 'none: nothing is returned',
  });

const readHandled = ({ value: { handled, text } }: Answer) => {
  if (!handled) return undefined;
  return typeof text === 'string' && text !== ''
    ? cancel('handled', { reply: text })
    : cancel('handled');
};

/** The hooks of the way of a message, beside the agent, that profile 2026.9 added. */
export const wayHooks9 = {
  inbound_claim: hostedHook<
    { content: string; channel: string; isGroup: boolean },
    LegacyTurnMessageContext,
    LegacyClaimResult
  >()({
    kind: 'claim',
    why: 'Not called: only the plugin that owns a conversation is asked, and no plugin owns one here.',
    merge: 'the first that handles it ends the call',
  }),
  channel_pairing_requested: {
    ...voidHook('account.pairing.requested')<
      Paired & { channel: string; senderId: string; code: string; metadata?: Open },
      Paired & { channelId: string; senderId?: string }
    >({
      why: 'Told once for each new request, by upsertPairingRequest of api.runtime.channel. It is not waited for.',
      event: same('channel', 'accountId', 'senderId', 'code', 'metadata'),
      context: { channelId: 'channel', ...same('accountId', 'senderId') },
    }),
    timeoutMs: 2_000,
  },
  before_dispatch: hostedHook<
    {
      content: string;
      channel?: string;
      sessionKey?: string;
      senderId?: string;
      isGroup?: boolean;
    },
    Open,
    { handled: boolean; text?: string }
  >()({
    kind: 'claim',
    parts: [{ family: 'routing.resolving', class: 'veto', read: readHandled }],
    why: 'A message that a plugin handles gets no agent: it is a cancel, and the text of the plugin is its reply.',
    merge: 'the first that handles it ends the call',
    instead: '{ handled: true, text }',
    view: ({ payload }) => {
      const { message, explicitRoute } = payload as PayloadOf<'routing.resolving'>;
      const { content, channel, accountId, conversationId, messageId, sentAtMs } = message;
      const senderId = message.sender?.id;
      const ids = definedFields({ messageId, senderId, sessionKey: explicitRoute?.sessionKey });
      const about = definedFields({ isGroup: message.isGroup, timestamp: sentAtMs });
      return {
        event: { content, body: content, channel, ...ids, ...about },
        ctx: { channelId: channel, ...definedFields({ accountId, conversationId }), ...ids },
      };
    },
  }),
  reply_dispatch: hostedHook<Open, Open, { handled: boolean; queuedFinal: boolean }>()({
    kind: 'claim',
    why: 'Not called: its handlers send by a dispatcher of OpenClaw, which is not there. before_agent_reply answers in place of the model.',
    merge: 'the first that handles it ends the call',
  }),
};

/** The hooks of the gateway and of its parts, as profile 2026.9 has them. */
export const lifecycleHooks9 = {
  subagent_progress: hostedHook<
    { runId: string; childSessionKey: string; requester?: LegacyPlace } & (
      | { phase: 'started' }
      | { phase: 'ended'; outcome: 'ok' | 'error' | 'timeout' | 'killed' | 'unknown' }
    ),
    LegacySubagentContext
  >()({
    kind: 'void',
    parts: [
      { family: 'subagent.spawned', class: 'observer' },
      { family: 'subagent.completed', class: 'observer' },
    ],
    why: 'The moments of subagent_spawned and subagent_ended. It is not told of a session that was reset or deleted without a run.',
    merge: 'none: nothing is returned',
    wants: ({ payload }) => (payload as { readonly runId?: string }).runId !== undefined,
    view: ({ family, payload }) => {
      const { requesterSessionKey } = payload as { readonly requesterSessionKey?: string };
      const { runId = '', ...told } = payload as { readonly runId?: string }; // of one of its parts
      const progress =
        family === 'subagent.spawned'
          ? startOf(told as PayloadOf<'subagent.spawned'>)
          : endOf(told as PayloadOf<'subagent.completed'>);
      const ctx = { runId, childSessionKey: progress.childSessionKey };
      return {
        event: { runId, ...progress },
        ctx: { ...ctx, ...definedFields({ requesterSessionKey }) },
      };
    },
  }),
  ...gatewayHooks,
  gateway_stop: { ...gatewayHooks.gateway_stop, timeoutMs: 5_000 },
  cron_reconciled: voidHook('schedule.reconciled')<
    { reason: 'startup' | 'reload'; enabled: boolean },
    LegacyGatewayContext
  >({
    why: 'The jobs of a host are the schedules of its extensions. They are always enabled, and ctx.getCron is not there.',
    event: { reason: 'reason', enabled: { show: () => true } },
    context: noPort,
  }),
  cron_changed: voidHook('schedule.changed')<CronChanged, LegacyGatewayContext>({
    why: 'A host tells of a schedule that was added or updated, and of a run that has started or finished. The job has the id EXTENSION/NAME.',
    event: {
      ...same('action', 'durationMs', 'status', 'error', 'runId'),
      jobId: 'scheduleId',
      job: { show: jobOf },
      runAtMs: 'dueAtMs',
      nextRunAtMs: 'nextDueAtMs',
    },
    context: noPort,
  }),
  skill_proposal_evaluate: hostedHook<Open, Open, readonly Open[]>()({
    kind: 'modifying',
    why: 'Not called: skills are files of the agent.',
    merge: 'none: each answer is told with its plugin',
  }),
  skill_proposal_changed: untold<Open>('skills are files of the agent.'),
  skill_changed: untold<Open>('skills are files of the agent.'),
  before_install: hostedHook<
    Open,
    Open,
    { findings?: readonly unknown[]; block?: boolean; blockReason?: string }
  >()({
    kind: 'modifying',
    why: 'Not called: nothing is installed while a host runs.',
    merge: 'findings: all of them; block: true ends it',
  }),
};

function startOf({ childSessionKey, requester }: PayloadOf<'subagent.spawned'>) {
  const place = requester && { ...requester }; // a handler may write to it
  return { phase: 'started', childSessionKey, ...definedFields({ requester: place }) };
}

function endOf({ targetSessionKey, outcome }: PayloadOf<'subagent.completed'>) {
  const isKnown = outcome !== 'reset' && outcome !== 'deleted';
  return {
    phase: 'ended',
    childSessionKey: targetSessionKey,
    outcome: (isKnown && outcome) || 'unknown',
  };
}

function jobOf({ scheduleId, cron, at, timeZone }: PayloadOf<'schedule.changed'>): Open {
  const schedule =
    cron === undefined
      ? { kind: 'at', ...definedFields({ at }) }
      : { kind: 'cron', expr: cron, ...definedFields({ tz: timeZone }) };
  return { id: scheduleId, name: scheduleId, enabled: true, schedule };
}
