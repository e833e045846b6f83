import { Trail, whyNot } from '@sluice/agent';
import { placeholderOf } from '@sluice/agent/internal';
import { type EarlyEnding, stopped } from '@sluice/journal/internal';
import { anySignal } from '@sluice/sdk/stream/internal';
import {
  definedFields,
  type Outcome,
  oneLine,
  type PayloadOf,
  pause,
} from 'sluice-kernel/internal';
import { endOf } from '../egress/extension-sends.js';
import { type OwnMessage, sendOwn } from '../egress/own-send.js';
import type { Place } from '../lanes/slots.js';
import type { SendJob } from '../outbox/send-job.js';
import { callWithin } from '../parts/attempt.js';
import type { FencedParts } from '../parts/parts.js';
import { asPrincipal } from '../provided/roles.js';
import { inSession } from '../session/in-session.js';
import { newSession } from '../session/sessions.js';
import type { InjectJob, QuestionJob, ScheduleJob, TakenJob } from './job.js';
import { reportSchedule } from './report-schedule.js';

/** Entries of a transcript that are searched for an injection whose job was begun before. */
const searched = 1_000;

/**
 * Takes a job to its end.
 *
 * @throws what the store says: the job goes to the dead letters.
 */
export function runJob(
  parts: FencedParts,
  taken: TakenJob,
  received: Outcome<'ingress.received'>,
  place: Place,
): Promise<EarlyEnding> {
  const { job } = taken;
  if (job.kind === 'send') return runSend(parts, job);
  if (job.kind === 'inject') {
    const { sessionKey } = job;
    return inSession(parts, place, { eventId: taken.eventId, sessionKey }, () =>
      inject(parts, received, job),
    );
  }
  return runRegistered(parts, { ...taken, job }, received);
}

/** Writes a text into the transcript of a session, as `transcript.message.writing` passes it (extensions-that-act §5.3). */
async function inject(
  parts: FencedParts,
  received: Outcome<'ingress.received'>,
  { extensionId, sessionKey, text }: InjectJob,
): Promise<EarlyEnding> {
  const { store, fence, kernel, defaultAgentId } = parts;
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
  const { status, payload } = writing;
  if (status === 'cancelled') {
    const reason = `transcript.message.writing ${whyNot(writing)}`;
    return { status, reason, ...ending };
  }
  const passed = status === 'failed' ? placeholderOf(message) : payload.message; // spec §15.14
  if (known === undefined) await store.saveSession(session, { fence });
  const entry = { ...passed, injectId: eventId };
  await store.appendMessage(sessionId, entry, { fence });
  return { status: 'job', ...ending };
}

type Taken = TakenJob<QuestionJob | ScheduleJob>;

/**
 * Calls the handler that an extension has registered by name, in the version that is live now (extensions-that-act §6.3 and
 * extensions-that-act §7.6). Never rejects.
 */
async function runRegistered(
  parts: FencedParts,
  taken: Taken,
  received: Outcome<'ingress.received'>,
): Promise<EarlyEnding> {
  const { logger, signal, clock } = parts;
  const { kind, extensionId, name } = taken.job;
  const live = handlerOf(parts, taken, received);
  if (live === undefined) return { status: 'failed', reason: 'its extension was unloaded' };
  await live.report?.({ action: 'started' });
  const startedMs = clock.monotonicMs();
  const finished = (end: Pick<PayloadOf<'schedule.changed'>, 'status' | 'error'>) =>
    live.report?.({ action: 'finished', durationMs: clock.monotonicMs() - startedMs, ...end });
  try {
    await live.call(anySignal(signal, live.signal));
    await finished({ status: 'ok' });
    return { status: 'job' };
  } catch (error) {
    if (signal.aborted) return stopped; // it is left to the next host
    const { eventId } = taken;
    logger.error(`the handler of a ${kind} failed`, { extensionId, [kind]: name, eventId, error });
    await finished({ status: 'error', error: oneLine(error) });
    return { status: 'failed', reason: `${extensionId}/${name}: ${oneLine(error)}` };
  }
}

interface LiveHandler {
  readonly signal: AbortSignal;
  readonly call: (signal: AbortSignal) => unknown;
  /** Tells of the run, if it is one of a schedule. */
  readonly report?: (
    told: Pick<PayloadOf<'schedule.changed'>, 'action' | 'status' | 'error' | 'durationMs'>,
  ) => Promise<void>;
}

/** Binds the live handler to a job; nothing if its extension is gone. `signal` aborts when the extension is unloaded. */
function handlerOf(
  parts: FencedParts,
  { eventId, account, attempt = 1, job }: Taken,
  received: Outcome<'ingress.received'>,
): LiveHandler | undefined {
  const { claimed, clock } = parts;
  if (job.kind === 'schedule') {
    const live = claimed.registeredBy('schedule', account);
    if (live === undefined) return undefined;
    const { handler, times } = live.registration.value;
    const { dueAt, extensionId, name, added } = job;
    const { key, data } = added ?? {};
    const run = { id: eventId, dueAt, attempt, ...definedFields({ key, data }) };
    return {
      signal: live.signal,
      call: (signal) => handler({ ...run, signal }),
      report: async (told) => {
        const { spec } = added ?? times ?? {};
        if (spec === undefined) return; // of a version before, in which its times were registered
        const nextDueAtMs = added === undefined ? times?.nextDue(clock.now()) : undefined;
        const next = definedFields({ nextDueAtMs });
        const about = { runId: eventId, attempt, dueAtMs: dueAt, ...next, ...told };
        const names = [extensionId, name, key ?? []].flat();
        return reportSchedule(parts, { names, spec }, about, received);
      },
    };
  }
  const live = claimed.registeredBy('question', account);
  if (live === undefined) return undefined;
  const { handler } = live.registration.value;
  const { questionId: id, place, data, end, by } = job;
  const principal = by === undefined ? undefined : asPrincipal(parts, by);
  const run = { id, place, data, ...end, attempt, ...definedFields({ principal }) };
  return { signal: live.signal, call: (signal) => handler({ ...run, signal }) };
}

/** Milliseconds for which a send waits for its account to start, or for its end by another part of the host, and between two looks. */
const waitMs = 60_000;
const lookEveryMs = 200;

/**
 * Makes a send that another host was asked for, by the account that this one connects (durability §12.6). One that a host before
 * this one has left open is brought to its end with the partition of its row. Its end is in its row: the job itself never fails.
 *
 * @throws what the journal throws.
 */
async function runSend(
  parts: FencedParts,
  { sendId: eventId, channel, accountId, message, refs }: SendJob,
): Promise<EarlyEnding> {
  const { journal, accounts, clock, signal, fence, kernel } = parts;
  const by = refs?.metadata?.['extensionId'];
  const grant = `send:${channel}`;
  if (typeof by === 'string' && !kernel.may(by, grant))
    // since it was kept
    return { status: 'failed', reason: `${by} has no grant "${grant}"` };
  const untilMs = clock.monotonicMs() + waitMs;
  while (accounts.find(channel, accountId) === undefined && clock.monotonicMs() < untilMs)
    if (!(await pause(clock, lookEveryMs, signal))) return stopped;
  const [known] = await journal.sends({ eventId });
  if (known !== undefined) await callWithin(() => endOf(parts, known), clock, waitMs, signal);
  else {
    const own = message as OwnMessage; // as the other host was given it
    const { suspension: _, ...alone } = parts; // a fault of the journal ends the send: the job is not claimed again for it
    await (await sendOwn(alone, own, { eventId, fence, ...definedFields({ refs }) })).ended;
  }
  return signal.aborted ? stopped : { status: 'job' };
}
