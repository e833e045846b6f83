import { deferred } from '../../kernel/index.js';
import type { AgentAnswer } from '../../stream/index.js';
import type { RunFact } from '../run/run-fact.js';

/** The longest answer, in bytes of UTF-8. */
const maxAnswerBytes = 1024 * 1024;

/** Gathers the answer of one run from its `chat` events: each holds the whole text so far. */
export class ChatAnswer {
  readonly #answer = deferred<AgentAnswer>();
  /** Settles when the run ends. */
  readonly whole = this.#answer.promise;
  /** The answer is too long: ends the run. */
  onOverflow: (problem: string) => void = () => undefined;

  take(fact: RunFact): void {
    if (fact.kind === 'end') this.#answer.resolve(answerOf(fact));
    else if (fact.kind === 'text' && Buffer.byteLength(fact.text) > maxAnswerBytes)
      this.onOverflow(tooLong);
  }
}

const tooLong = `the answer is longer than ${maxAnswerBytes} bytes`;

function answerOf(end: Extract<RunFact, { kind: 'end' }>): AgentAnswer {
  if (end.how === 'aborted') return failed('the run was stopped');
  if (end.how === 'failed') return failed(end.message, end.reachedAgent);
  const text = end.text?.trim() ?? '';
  if (Buffer.byteLength(text) > maxAnswerBytes) return failed(tooLong);
  return { status: 'answered', parts: text === '' ? [] : [text] };
}

function failed(error: string, reachedAgent = true): AgentAnswer {
  return { status: 'failed', error, reachedAgent };
}
