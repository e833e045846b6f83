import { type FieldTable, same, shown } from '../facts/field-table.js';
import { knownCount, measured } from '../facts/known.js';
import { voidHook } from './make-row.js';
import type { LegacySessionContext } from './shapes.js';

const sessionContext: FieldTable<
  LegacySessionContext,
  { sessionId: string; agentId?: string; sessionKey?: string }
> = { ...same('agentId', 'sessionKey'), sessionId: shown('sessionId') };

/** The hooks of a session. */
export const sessionHooks = {
  session_start: voidHook('session.started')<
    { sessionId: string; sessionKey?: string; resumedFrom?: string },
    LegacySessionContext
  >({
    why: "Not in the seed's table. Told when a new session id is made; the stage also tells of sessions that go on, and a legacy handler is not called then.",
    event: same('sessionId', 'sessionKey', 'resumedFrom'),
    context: sessionContext,
    adds: () => ({ isNew: true, context: {}, memoryKeys: [], metadata: {} }),
    tells: ({ isNew }) => isNew,
  }),
  session_end: voidHook('session.ended')<
    { sessionId: string; sessionKey?: string; messageCount: number; durationMs?: number },
    LegacySessionContext
  >({
    why: "Not in the seed's table, and no family of its own there: session.ended was added for it. The legacy caller always counts 0 messages; the stage counts them.",
    event: {
      ...same('sessionId', 'sessionKey'),
      messageCount: { to: 'messageCount', read: knownCount, show: (one) => one.messageCount },
      durationMs: measured('durationMs'),
    },
    context: sessionContext,
    adds: () => ({ messageCount: 0 }),
  }),
};
