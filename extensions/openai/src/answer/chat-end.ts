import { ChatError, failureIn, isError, toldIn } from './chat-error.js';

/** How an answer ended well. */
export type GoodEnd = 'stop' | 'length';

/**
 * The words of a good end, as servers spell them in any case, with hyphens or without. Each other word is a failure. Sources: the API
 * references of OpenAI (`finish_reason`), Anthropic (`stop_reason`), Cohere, Mistral and Gemini (`finishReason`), and the
 * `finish_reason` of text-generation-inference, Together and proxies.
 */
const goodEnds: readonly (readonly [GoodEnd, words: RegExp])[] = [
  ['stop', /^(stop|end_turn|stop_(sequence|token)|eos(_token)?|completed?|end|done)$/],
  ['stop', /^(tool_calls?|function_call|tool_use)$/],
  ['length', /^(length|max_tokens|max_output_tokens|model_length)$/],
];

/** The words for an answer that was kept back: of OpenAI and Azure, Gemini, Anthropic, Bedrock and Zhipu. */
const keptBack =
  /content_?filter|safety|^refusal$|recitation|blocklist|prohibited|^spii$|sensitive|guardrail|moderation/;

/** One part of an answer, as the servers of this protocol send it. Any field may be missing, or something else. */
export interface ChatPart {
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
  /** How the answer ended: in its last part, which has nothing else. */
  readonly end?: GoodEnd;
}

/** The first choice of an answer in a part, whose fields are read with care; nothing if the part has none of it. */
export function firstOf({ choices }: ChatPart): Record<string, unknown> | undefined {
  const all = Array.isArray(choices) ? choices.map((one) => Object(one)) : [];
  return all.find(({ index }) => !index || index === '0');
}

/** Reads how an answer ends: its first word for that counts, and nothing else ends it. Proxies send `[DONE]` behind a cut, too. */
export class AnswerEnd {
  /** The server's word; while there is none, the answer goes on. */
  word: string | undefined;
  /** The last part that is no piece of an answer and says something: the reason, if the answer does not end well. */
  told: string | undefined;
  #hasChoice = false;
  #lastChars = 0;

  /**
   * Reads a part.
   *
   * @param text the part as it came.
   * @param isFailure the event that it came in is named so.
   * @returns whether it has a piece of the answer.
   * @throws ChatError the failure that it tells of.
   */
  read(part: ChatPart, text: string, isFailure: boolean): boolean {
    const { error, object, type } = part as Record<string, unknown>; // read with care
    if (isFailure || isError(error) || object === 'error' || type === 'error')
      throw failureIn(text, JSON.stringify({ ...part, choices: undefined })); // what a model has said stays away
    this.#lastChars = text.length;
    const choice = firstOf(part);
    if (choice === undefined) {
      if (toldIn(text, '').message !== '') this.told = text;
      return false;
    }
    this.#hasChoice = true;
    const { error: problem, finish_reason: word, delta, message } = choice;
    if (isError(problem)) throw failureIn(JSON.stringify(problem));
    if (typeof word === 'string' && !/^\s*(null|none)?\s*$/i.test(word)) this.word ??= word;
    const { role: _, ...piece } = Object(delta ?? message);
    return Object.values(piece).some((one) => one && Object(one).length !== 0);
  }

  /** Nothing more comes. @throws ChatError unless the answer is whole. */
  close(): GoodEnd {
    const { word, told } = this;
    if (word === undefined) {
      if (told !== undefined) throw failureIn(told);
      if (!this.#hasChoice) {
        const problem = `the answer has no choices (its last part: ${this.#lastChars} characters)`;
        throw new ChatError('no-choices', problem);
      }
      throw new ChatError('cut-stream', 'the answer ended in its middle, without a finish_reason');
    }
    const apart = word.trim().replace(/([a-z])([A-Z])/g, '$1_$2');
    const plain = apart.replace(/[-\s]+/g, '_').toLowerCase();
    const good = goodEnds.find(([, words]) => words.test(plain));
    if (good !== undefined) return good[0];
    const said = [`"${word.slice(0, 80)}"`, told && toldIn(told).message]
      .filter(Boolean)
      .join(': ');
    if (keptBack.test(plain))
      throw new ChatError('content-filter', `the server has kept the answer back: ${said}`);
    throw new ChatError('server-error', `the server has ended the answer with ${said}`);
  }
}
