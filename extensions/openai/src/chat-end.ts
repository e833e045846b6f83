import { ChatError, failureIn, isError, toldIn } from './chat-error.js';

/** How an answer ended well. */
export type GoodEnd = 'stop' | 'length';

/**
 * The words of a good end, as servers spell them; letters in other cases and hyphens count as the same. Each other word is a failure.
 * Sources: the API references of OpenAI (`finish_reason`), Anthropic (`stop_reason`), Mistral, Cohere and Gemini (`finishReason`), and the
 * `finish_reason` of text-generation-inference, Together and Ollama.
 */
const goodEnds: Readonly<Record<string, GoodEnd>> = {
  ...{ stop: 'stop', tool_calls: 'stop', function_call: 'stop', length: 'length' }, // OpenAI
  ...{ end_turn: 'stop', stop_sequence: 'stop', tool_use: 'stop', max_tokens: 'length' }, // Anthropic
  ...{ complete: 'stop', tool_call: 'stop' }, // Cohere
  ...{ model_length: 'length', model_context_window_exceeded: 'length' }, // Mistral, Anthropic
  ...{ eos: 'stop', eos_token: 'stop' }, // Together, text-generation-inference
  ...{
    completed: 'stop',
    end: 'stop',
    done: 'stop',
    stop_token: 'stop',
    max_output_tokens: 'length',
  }, // proxies
};

/** The words for an answer that was kept back: of OpenAI and Azure, Gemini, Anthropic, Bedrock and Zhipu. */
export const keptBack =
  /content_?filter|safety|^refusal$|recitation|blocklist|prohibited|^spii$|sensitive|guardrail|moderation/;

/** One part of an answer, as the servers of this protocol send it. Any field may be missing, or something else. */
export interface ChatPart {
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
  /** How the answer ended: in its last part, which has nothing else. */
  readonly end?: GoodEnd;
}

/** Reads how an answer ends: its first word for that counts, and nothing else ends it but `[DONE]`. */
export class AnswerEnd {
  #word: string | undefined;
  #hasChoice = false;
  /** The last part that is no piece of an answer and says something: the reason, if the answer does not end well. */
  #told: string | undefined;

  /** The server has said how the answer ends: what may come now is its usage. */
  get isSaid(): boolean {
    return this.#word !== undefined;
  }

  /** A failure that the server has told of as no failure; nothing if it has not. */
  get told(): string | undefined {
    return this.#told;
  }

  /**
   * Reads a part.
   *
   * @param text the part as it came.
   * @param isFailure the event that it came in is named so.
   * @returns whether it has a piece of the answer.
   * @throws ChatError the failure that it tells of.
   */
  read(part: ChatPart, text: string, isFailure: boolean): boolean {
    const { error, object, type } = part as ChatPart & Record<string, unknown>; // read with care
    if (isFailure || isError(error) || object === 'error' || type === 'error')
      throw failureIn(text);
    const choice = firstOf(part);
    if (choice === undefined) {
      if (toldIn(text, '').message !== '') this.#told = text;
      return false;
    }
    this.#hasChoice = true;
    if (isError(choice.error)) throw failureIn(JSON.stringify({ error: choice.error }));
    const { finish_reason: word, delta } = choice;
    if (typeof word === 'string' && !/^\s*(null|none)?\s*$/i.test(word)) this.#word ??= word;
    return Object.entries(Object(delta ?? choice.message)).some(
      ([name, value]) => name !== 'role' && Boolean(value) && Object(value).length !== 0,
    );
  }

  /** Nothing more comes. @param isDone the server has said so. @throws ChatError unless the answer is whole. */
  close(isDone: boolean): GoodEnd {
    const word = this.#word;
    if (word === undefined) {
      if (this.#told !== undefined) throw failureIn(this.#told);
      if (!this.#hasChoice) throw new ChatError('no-choices', 'the answer has no choices');
      if (isDone) return 'stop'; // some say so, and nothing else
      throw new ChatError('cut-stream', 'the answer ended in its middle');
    }
    const plain = plainWord(word);
    const good = Object.hasOwn(goodEnds, plain) ? goodEnds[plain] : undefined;
    if (good !== undefined) return good;
    const { message } = toldIn(this.#told ?? '', '');
    const problem = `"${word.slice(0, 80)}"${message === '' ? '' : `: ${message}`}`;
    if (keptBack.test(plain))
      throw new ChatError('content-filter', `the server has kept the answer back: ${problem}`);
    throw new ChatError('server-error', `the server has ended the answer with ${problem}`);
  }
}

/** The first choice of a part, read field by field. */
export interface Choice {
  readonly delta?: unknown;
  /** A whole message in the place of a delta. */
  readonly message?: unknown;
  readonly finish_reason?: unknown;
  readonly error?: unknown;
}

/** The choice of a part that is read; nothing if it has none. */
export function firstOf({ choices }: ChatPart): Choice | undefined {
  const [choice] = Array.isArray(choices) ? (choices as readonly unknown[]) : [];
  return choice === undefined ? undefined : Object(choice);
}

function plainWord(word: string): string {
  const apart = word.trim().replace(/([a-z])([A-Z])/g, '$1_$2');
  return apart.replace(/[-\s]+/g, '_').toLowerCase();
}
