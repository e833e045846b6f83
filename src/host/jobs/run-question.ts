import { oneLine } from '../../kernel/index.js';
import { type MessageEnd, stopped } from '../journal/message-end.js';
import type { HostParts } from '../parts/parts.js';
import type { QuestionJob, TakenJob } from './job.js';

type Ending = Pick<MessageEnd, 'status' | 'reason'>;

/** Gives the end of a question to the handler of the version that is live now (extensions-that-act §7.6). Never rejects. */
export async function runQuestion(
  { takenOver, logger, signal }: HostParts,
  { eventId, account, attempt = 1, job }: TakenJob<QuestionJob>,
): Promise<Ending> {
  const { extensionId, name, questionId: id, place, data, end } = job;
  const question = takenOver.registeredBy('question', account);
  if (question === undefined) return { status: 'failed', reason: 'its extension was unloaded' };
  const { handler } = question.registration.value;
  const either = AbortSignal.any([signal, question.signal]);
  try {
    await handler({ id, place, data, ...end, attempt, signal: either });
    return { status: 'job' };
  } catch (error) {
    if (signal.aborted) return stopped; // it is left to the next host
    logger.error('the handler of a question failed', {
      extensionId,
      question: name,
      eventId,
      error,
    });
    return { status: 'failed', reason: `${extensionId}/${name}: ${oneLine(error)}` };
  }
}
