import { Trail, whyNot } from '../../agent/index.js';
import type { Outcome } from '../../kernel/index.js';
import type { MessageEnd } from '../journal/message-end.js';
import type { Place } from '../lanes/place.js';
import type { HostParts } from '../parts/parts.js';
import { inSession } from '../session/in-session.js';
import { newSession } from '../session/sessions.js';
import type { InjectJob, TakenJob } from './job.js';
import { runRegistered } from './run-registered.js';

type Ending = Pick<MessageEnd, 'status' | 'reason'> &
  Partial<Pick<MessageEnd, 'agentId' | 'sessionKey'>>;

/** Entries of a transcript that are searched for an injection whose job was begun before. */
const searched = 1_000;

/**
 * Takes a job to its end.
 *
 * @throws what the store says: the job goes to the dead letters.
 */
export function runJob(
  parts: HostParts,
  taken: TakenJob,
  received: Outcome<'ingress.received'>,
  place: Place,
): Promise<Ending> {
  const { job } = taken;
  if (job.kind === 'inject') {
    const { sessionKey } = job;
    return inSession(parts, place, { sessionKey }, () => inject(parts, received, job));
  }
  return runRegistered(parts, { ...taken, job });
}

/** Writes a text into the transcript of a session, as `transcript.message.writing` passes it (extensions-that-act §5.3). */
async function inject(
  parts: HostParts,
  received: Outcome<'ingress.received'>,
  { extensionId, sessionKey, text }: InjectJob,
): Promise<Ending> {
  const { store, kernel, defaultAgentId } = parts;
  const { eventId } = received.event;
  const known = await store.loadSession(sessionKey);
  const session = known ?? newSession(parts, { sessionKey, agentId: defaultAgentId });
  const { agentId, sessionId } = session;
  const ending = { agentId, sessionKey } as const;
  // a host before this one may have ended between the write and the end of the job
  const last = known === undefined ? [] : await store.readTranscript(sessionId, { last: searched });
  if (last.some((entry) => entry['injectId'] === eventId)) return { status: 'job', ...ending };
  const message = {
    role: 'user',
    content: text,
    injectedBy: extensionId,
    injectId: eventId,
  };
  const trail = new Trail(kernel, received, { agentId, sessionId });
  const writing = trail.dispatchSync('transcript.message.writing', {
    ...{ agentId, sessionKey, sessionId },
    message,
  });
  if (writing.status !== 'passed') {
    const status = writing.status === 'cancelled' ? 'cancelled' : 'failed';
    return { status, reason: `transcript.message.writing ${whyNot(writing)}`, ...ending };
  }
  if (known === undefined) await store.saveSession(session);
  await store.appendMessage(sessionId, { ...writing.payload.message, injectId: eventId });
  return { status: 'job', ...ending };
}
