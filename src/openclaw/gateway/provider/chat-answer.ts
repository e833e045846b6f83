import type { AgentAnswer } from '../../../sdk/stream/index.js';
import type { RunEndFact } from '../run/run-fact.js';

/** The longest answer, in bytes of UTF-8. */
const maxAnswerBytes = 1024 * 1024;

/** The problem with an answer that is too long. */
export const tooLong = `the answer is longer than ${maxAnswerBytes} bytes`;

/** Says if an answer is too long. */
export function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > maxAnswerBytes;
}

/** The answer of a run, of its `chat` events: each holds the whole text so far, the last one too. */
export function answerOf(end: RunEndFact): AgentAnswer {
  if (end.how === 'aborted') return failed('the run was stopped');
  if (end.how === 'failed') return failed(end.message, end.reachedAgent);
  const text = end.text?.trim() ?? '';
  if (isTooLong(text)) return failed(tooLong);
  return { status: 'answered', parts: text === '' ? [] : [text] };
}

function failed(error: string, reachedAgent = true): AgentAnswer {
  return { status: 'failed', error, reachedAgent };
}
