import { type Trail, whyNot } from '@sluice/agent';
import type { SessionRecord } from '@sluice/journal';
import type { TranscriptEntry, TranscriptSize } from '@sluice/sdk/stream';
import { definedFields, type FamilyName } from 'sluice-kernel/internal';
import type { FencedParts, HostParts } from '../parts/parts.js';
import type { TurnWrites } from '../transcript/turn-writes.js';
import type { RoutedMessage } from './routing.js';

/** A session that is ready for a turn, or why it is not. */
type Opening =
  | {
      readonly status: 'open';
      readonly session: SessionRecord;
      /** The size of the transcript before a turn of this message that was cut off; absent if there was none. */
      readonly begunAt?: TranscriptSize;
    }
  | { readonly status: 'failed'; readonly reason: string };

/**
 * Opens the session of a message: `session.starting` for each message, so that context is bound for it, and
 * `session.started` when the session is new. What `session.starting` binds is persisted in the session.
 *
 * @param writes gets the write of a session that is known; a new one is persisted before `session.started`.
 * @throws what the store says.
 */
export async function openSession(
  parts: FencedParts,
  trail: Trail,
  route: { readonly agentId: string; readonly sessionKey: string },
  message: RoutedMessage,
  writes: TurnWrites,
): Promise<Opening> {
  const { sessionKey, agentId } = route;
  const known = await parts.store.loadSession(sessionKey);
  const record = known ?? newSession(parts, { sessionKey, agentId });
  const isNew = record.startedAtMs === undefined;
  trail.carry({ sessionId: record.sessionId });
  const telling = trail.tell(
    'session.starting',
    () => ({ isNew, message, ...payloadOf({ ...record, agentId }) }),
    parts.signal,
  );
  const starting = telling && (await telling);
  if (starting !== undefined && starting.status !== 'passed')
    return { status: 'failed', reason: `session.starting ${whyNot(starting)}` };
  const { context, memoryKeys, metadata } = starting?.payload ?? record;
  const { correlationId = '' } = trail;
  const begunAt =
    record.lastTurn?.correlationId === correlationId ? record.lastTurn.before : undefined;
  const session: SessionRecord = Object.freeze({
    ...record,
    startedAtMs: record.startedAtMs ?? parts.clock.now(),
    agentId,
    context,
    memoryKeys: [...new Set(memoryKeys)],
    metadata,
    lastTurn: {
      correlationId,
      before: begunAt ?? (await parts.store.transcriptSize(record.sessionId)),
    },
  });
  if (isNew) {
    await parts.store.saveSession(session, { fence: parts.fence });
    await trail.tell('session.started', () => ({ ...payloadOf(session), isNew }));
  } else await writes.add(parts.store.saveSession(session, { fence: parts.fence, mayWait: true }));
  trail.carry({ metadata: { session: { context, memoryKeys: session.memoryKeys, metadata } } });
  return { status: 'open', session, ...definedFields({ begunAt }) };
}

/** A session that has not begun yet. */
export function newSession(
  parts: Pick<HostParts, 'newId'>,
  of: { readonly sessionKey: string; readonly agentId: string; readonly resumedFrom?: string },
): SessionRecord {
  return {
    ...of,
    sessionId: parts.newId('session'),
    context: {},
    memoryKeys: [],
    metadata: {},
  };
}

/**
 * Ends a session and puts a new one in its place: `session.resetting` while the transcript is still there, then
 * `session.ended`. The new session starts with its first message. A session that has not begun is left as it is.
 * Lines that handlers want to answer with go down the trail, as annotations do.
 *
 * @throws what the store says.
 */
export async function resetSession(
  parts: FencedParts,
  trail: Trail,
  sessionKey: string,
  why: { readonly reason: string; readonly surface?: string; readonly senderId?: string },
): Promise<void> {
  const session = await parts.store.loadSession(sessionKey);
  if (session?.startedAtMs === undefined) return;
  const { messages: messageCount } = await parts.store.transcriptSize(session.sessionId);
  const ids = { agentId: session.agentId, sessionKey, sessionId: session.sessionId };
  await trail.dispatch('session.resetting', {
    ...ids,
    ...why,
    ...(await transcriptFor(parts, 'session.resetting', session.sessionId)),
  });
  const next = newSession(parts, {
    sessionKey,
    agentId: session.agentId,
    resumedFrom: session.sessionId,
  });
  await parts.store.saveSession(next, { fence: parts.fence });
  await trail.dispatch('session.ended', {
    ...ids,
    messageCount,
    durationMs: Math.max(0, parts.clock.now() - session.startedAtMs),
    reason: why.reason,
    nextSessionId: next.sessionId,
  });
}

/** Reads all of a transcript if a handler wants it. Without such a handler the host does not pay for it (spec §15.8). */
async function transcriptFor(
  { kernel, store }: FencedParts,
  family: FamilyName,
  sessionId: string,
): Promise<{ readonly messages?: TranscriptEntry[] }> {
  if (kernel.plan(family).length === 0) return {};
  return { messages: [...(await store.readTranscript(sessionId))] };
}

function payloadOf(session: SessionRecord) {
  const { sessionKey, sessionId, agentId, resumedFrom, context, metadata } = session;
  const memoryKeys = [...session.memoryKeys];
  const fields = { sessionKey, sessionId, agentId, context, memoryKeys, metadata, resumedFrom };
  return definedFields(fields);
}
