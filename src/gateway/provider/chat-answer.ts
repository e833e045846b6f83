import type { AgentAnswer } from '../../stream/index.js';
import type { RunFact } from '../run/run-fact.js';

/** The longest answer, in bytes of UTF-8. */
const maxAnswerBytes = 1024 * 1024;

/** Gathers the answer of one run from its `chat` events: each holds the whole text so far. */
export class ChatAnswer {
  /** Settles at the run's end. */
  readonly whole: Promise<AgentAnswer>;
  /** The answer is too long: ends the run. */
  onOverflow: (problem: string) => void = () => undefined;
  #settle: (answer: AgentAnswer) => void = () => undefined;

  constructor() {
    this.whole = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  take(fact: RunFact): void {
    if (fact.kind === 'end') this.#settle(answerOf(fact));
    else if (fact.kind === 'text' && Buffer.byteLength(fact.text) > maxAnswerBytes)
      this.onOverflow(tooLong);
  }
}

const tooLong = `the answer is longer than ${maxAnswerBytes} bytes`;

function answerOf(end: Extract<RunFact, { kind: 'end' }>): AgentAnswer {
  if (end.how === 'aborted')
    return { status: 'failed', error: 'the run was stopped', reachedAgent: true };
  if (end.how === 'failed')
    return { status: 'failed', error: end.message, reachedAgent: end.reachedAgent };
  const text = end.text?.trim() ?? '';
  if (Buffer.byteLength(text) > maxAnswerBytes)
    return {
      status: 'failed',
      error: `the answer is longer than ${maxAnswerBytes} bytes`,
      reachedAgent: true,
    };
  return { status: 'answered', parts: text === '' ? [] : [text] };
}
