import { definedFields, oneLine } from '../../kernel/index.js';
import { type MessageEnd, stopped } from '../journal/message-end.js';
import type { HostParts } from '../parts/parts.js';
import { asPrincipal } from '../provided/roles.js';
import type { QuestionJob, ScheduleJob, TakenJob } from './job.js';

type Ending = Pick<MessageEnd, 'status' | 'reason'>;
type Taken = TakenJob<QuestionJob | ScheduleJob>;

/**
 * Calls the handler that an extension has registered by name, in the version that is live now (extensions-that-act §6.3 and
 * extensions-that-act §7.6). Never rejects.
 */
export async function runRegistered(parts: HostParts, taken: Taken): Promise<Ending> {
  const { logger, signal } = parts;
  const { kind, extensionId, name } = taken.job;
  const live = handlerOf(parts, taken);
  if (live === undefined) return { status: 'failed', reason: 'its extension was unloaded' };
  try {
    await live.call(AbortSignal.any([signal, live.signal]));
    return { status: 'job' };
  } catch (error) {
    if (signal.aborted) return stopped; // it is left to the next host
    const { eventId } = taken;
    logger.error(`the handler of a ${kind} failed`, { extensionId, [kind]: name, eventId, error });
    return { status: 'failed', reason: `${extensionId}/${name}: ${oneLine(error)}` };
  }
}

/** Binds the live handler to a job; nothing if its extension is gone. `signal` aborts when the extension is unloaded. */
function handlerOf(parts: HostParts, { eventId, account, attempt = 1, job }: Taken) {
  const { takenOver } = parts;
  if (job.kind === 'schedule') {
    const live = takenOver.registeredBy('schedule', account);
    if (live === undefined) return undefined;
    const { handler } = live.registration.value;
    const run = { id: eventId, dueAt: job.dueAt, attempt };
    return { signal: live.signal, call: (signal: AbortSignal) => handler({ ...run, signal }) };
  }
  const live = takenOver.registeredBy('question', account);
  if (live === undefined) return undefined;
  const { handler } = live.registration.value;
  const { questionId: id, place, data, end, by } = job;
  const principal = by === undefined ? undefined : asPrincipal(parts, by);
  const run = { id, place, data, ...end, attempt, ...definedFields({ principal }) };
  return { signal: live.signal, call: (signal: AbortSignal) => handler({ ...run, signal }) };
}
