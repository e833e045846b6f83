import type { PayloadOf } from '../../kernel/index.js';
import { knownAmount, knownCount } from '../known.js';
import { present } from '../present.js';
import { observes } from './observes.js';
import type { LegacyHookRow } from './row.js';
import { agentContextOf, payloadOf, runOf, runRefs } from './run-context.js';
import type { LegacySessionContext } from './shapes.js';

const idsOf = (event: { sessionId: string; sessionKey?: string }, ctx: LegacySessionContext) => ({
  sessionId: event.sessionId,
  ...present({ sessionKey: event.sessionKey ?? ctx.sessionKey, agentId: ctx.agentId }),
});

const sessionContextOf = (payload: {
  readonly sessionId: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
}): LegacySessionContext => {
  const { sessionId, agentId, sessionKey } = payload;
  return { sessionId, ...present({ agentId, sessionKey }) };
};

/** The hooks of a session and of the gateway. */
export const sessionHooks: {
  readonly before_reset: LegacyHookRow<'before_reset'>;
  readonly session_start: LegacyHookRow<'session_start'>;
  readonly session_end: LegacyHookRow<'session_end'>;
  readonly gateway_start: LegacyHookRow<'gateway_start'>;
  readonly gateway_stop: LegacyHookRow<'gateway_stop'>;
} = {
  before_reset: {
    ...observes,
    parts: [{ family: 'session.resetting', class: 'observer' }],
    why: 'The legacy caller leaves it out where it cannot read the old transcript; the stage is there on every reset.',
    announce: (event, ctx) => {
      const { sessionFile, messages, reason } = event;
      const payload = { ...runOf(ctx), ...present({ sessionFile, messages, reason }) };
      return [{ family: 'session.resetting', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.resetting'>>(envelope);
      const { sessionFile, messages, reason } = payload;
      return {
        event: present({ sessionFile, messages, reason }),
        ctx: agentContextOf(envelope),
      };
    },
  },
  session_start: {
    ...observes,
    parts: [{ family: 'session.started', class: 'observer' }],
    why: "Not in the seed's table. Told when a new session id is made; the stage also tells of sessions that go on, and a legacy handler is not called then.",
    announce: (event, ctx) => {
      const ids = { ...idsOf(event, ctx), ...present({ resumedFrom: event.resumedFrom }) };
      const payload = { ...ids, isNew: true, context: {}, memoryKeys: [], metadata: {} };
      return [{ family: 'session.started', payload, given: runRefs(ids) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.started'>>(envelope);
      const { sessionId, sessionKey, resumedFrom } = payload;
      return {
        event: { sessionId, ...present({ sessionKey, resumedFrom }) },
        ctx: sessionContextOf(payload),
      };
    },
    wants: (envelope) => payloadOf<PayloadOf<'session.started'>>(envelope).isNew,
  },
  session_end: {
    ...observes,
    parts: [{ family: 'session.ended', class: 'observer' }],
    why: "Not in the seed's table, and no family of its own there: session.ended was added for it. The legacy caller always counts 0 messages; the stage counts them.",
    announce: (event, ctx) => {
      const ids = idsOf(event, ctx);
      const messageCount = knownCount(event.messageCount) ?? 0;
      const payload = {
        ...ids,
        messageCount,
        ...present({ durationMs: knownAmount(event.durationMs) }),
      };
      return [{ family: 'session.ended', payload, given: runRefs(ids) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.ended'>>(envelope);
      const { sessionId, sessionKey, messageCount, durationMs } = payload;
      return {
        event: { sessionId, messageCount, ...present({ sessionKey, durationMs }) },
        ctx: sessionContextOf(payload),
      };
    },
  },
  gateway_start: {
    ...observes,
    parts: [{ family: 'gateway.started', class: 'observer' }],
    why: 'The same moment: when messages can come. A host without a port says 0.',
    announce: ({ port }) => [{ family: 'gateway.started', payload: present({ port }), given: {} }],
    view: (envelope) => {
      const { port = 0 } = payloadOf<PayloadOf<'gateway.started'>>(envelope);
      return { event: { port }, ctx: { port } };
    },
  },
  gateway_stop: {
    ...observes,
    parts: [{ family: 'gateway.stopping', class: 'observer' }],
    why: 'The same moment: when the host begins to drain.',
    announce: ({ reason }, { port }) => [
      { family: 'gateway.stopping', payload: present({ reason, port }), given: {} },
    ],
    view: (envelope) => {
      const { reason, port } = payloadOf<PayloadOf<'gateway.stopping'>>(envelope);
      return { event: present({ reason }), ctx: present({ port }) };
    },
  },
};
