import { definedFields, type PayloadOf } from '../../kernel/index.js';
import { knownAmount, knownCount } from '../facts/known.js';
import { voidHook } from './make-row.js';
import { payloadOf, runRefs } from './run-context.js';
import type { LegacySessionContext } from './shapes.js';

const idsOf = (event: { sessionId: string; sessionKey?: string }, ctx: LegacySessionContext) => ({
  sessionId: event.sessionId,
  ...definedFields({ sessionKey: event.sessionKey ?? ctx.sessionKey, agentId: ctx.agentId }),
});

const sessionContextOf = (payload: {
  readonly sessionId: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
}): LegacySessionContext => {
  const { sessionId, agentId, sessionKey } = payload;
  return { sessionId, ...definedFields({ agentId, sessionKey }) };
};

/** The hooks of a session. */
export const sessionHooks = {
  session_start: voidHook<
    { sessionId: string; sessionKey?: string; resumedFrom?: string },
    LegacySessionContext
  >({
    parts: [{ family: 'session.started', class: 'observer' }],
    why: "Not in the seed's table. Told when a new session id is made; the stage also tells of sessions that go on, and a legacy handler is not called then.",
    announce: (event, ctx) => {
      const ids = { ...idsOf(event, ctx), ...definedFields({ resumedFrom: event.resumedFrom }) };
      const payload = { ...ids, isNew: true, context: {}, memoryKeys: [], metadata: {} };
      return [{ family: 'session.started', payload, given: runRefs(ids) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.started'>>(envelope);
      const { sessionId, sessionKey, resumedFrom } = payload;
      return {
        event: { sessionId, ...definedFields({ sessionKey, resumedFrom }) },
        ctx: sessionContextOf(payload),
      };
    },
    wants: (envelope) => payloadOf<PayloadOf<'session.started'>>(envelope).isNew,
  }),
  session_end: voidHook<
    { sessionId: string; sessionKey?: string; messageCount: number; durationMs?: number },
    LegacySessionContext
  >({
    parts: [{ family: 'session.ended', class: 'observer' }],
    why: "Not in the seed's table, and no family of its own there: session.ended was added for it. The legacy caller always counts 0 messages; the stage counts them.",
    announce: (event, ctx) => {
      const ids = idsOf(event, ctx);
      const messageCount = knownCount(event.messageCount) ?? 0;
      const payload = {
        ...ids,
        messageCount,
        ...definedFields({ durationMs: knownAmount(event.durationMs) }),
      };
      return [{ family: 'session.ended', payload, given: runRefs(ids) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'session.ended'>>(envelope);
      const { sessionId, sessionKey, messageCount, durationMs } = payload;
      return {
        event: { sessionId, messageCount, ...definedFields({ sessionKey, durationMs }) },
        ctx: sessionContextOf(payload),
      };
    },
  }),
};
