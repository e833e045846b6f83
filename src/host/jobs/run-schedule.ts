import { oneLine } from '../../kernel/index.js';
import { type MessageEnd, stopped } from '../journal/message-end.js';
import type { HostParts } from '../parts/parts.js';
import type { ScheduleJob, TakenJob } from './job.js';

type Ending = Pick<MessageEnd, 'status' | 'reason'>;

/** Runs the handler of a schedule, in the version that is live now (extensions-that-act §6.3). Never rejects. */
export async function runSchedule(
  { takenOver, logger, signal }: HostParts,
  { eventId, account, attempt = 1, job }: TakenJob<ScheduleJob>,
): Promise<Ending> {
  const { extensionId, name, dueAt } = job;
  const schedule = takenOver.registeredBy('schedule', account);
  if (schedule === undefined) return { status: 'failed', reason: 'its extension was unloaded' };
  const { handler } = schedule.registration.value;
  const either = AbortSignal.any([signal, schedule.signal]);
  try {
    await handler({ id: eventId, dueAt, attempt, signal: either });
    return { status: 'job' };
  } catch (error) {
    if (signal.aborted) return stopped; // it is left to the next host
    logger.error('a run of a schedule failed', { extensionId, schedule: name, eventId, error });
    return { status: 'failed', reason: `${extensionId}/${name}: ${oneLine(error)}` };
  }
}
