import { type AgentRequest, isPrompt, type SessionMessage } from 'sluice/stream';
import { type ChatMessage, chatMessages, type MessageRules, tokensOf } from './chat-messages.js';

/** The part of a conversation that was left out of requests, as it is kept with the session. */
interface LeftOut {
  /** The prompts that were left out, since the session began. */
  readonly prompts: number;
  readonly summary?: string;
}

/** Reads the token of a session. One that is not understood leaves nothing out. */
function leftOutOf(token: string | undefined): LeftOut {
  try {
    const { prompts, summary } = Object(JSON.parse(token ?? ''));
    if (Number.isSafeInteger(prompts) && prompts >= 0)
      return { prompts, ...(typeof summary === 'string' && { summary }) };
  } catch {
    // one of another version
  }
  return { prompts: 0 };
}

/** Stands before the rest of a turn whose beginning is too long ago. */
const beginning: ChatMessage = { role: 'user', content: '(The beginning is left out.)' };

/** A turn of the conversation: a prompt, and what followed it. */
interface Turn {
  /** Of its prompt, since the session began. */
  readonly number: number;
  readonly messages: SessionMessage[];
}

/** The history of a request: the turns that go to the model, oldest first, and what was left out before them. */
export class KeptHistory {
  leftOut: LeftOut;
  readonly #turns: Turn[] = [];
  readonly #rules: MessageRules;

  constructor({ history, beforeHistory, providerSession }: AgentRequest, rules: MessageRules) {
    this.#rules = rules;
    this.leftOut = leftOutOf(providerSession);
    let number = beforeHistory?.prompts ?? 0;
    for (const message of history) {
      const turn = this.#turns.at(-1);
      if (isPrompt(message)) number++;
      if (turn?.number === number) turn.messages.push(message);
      else if (number > this.leftOut.prompts) this.#turns.push({ number, messages: [message] });
    }
  }

  get turns(): number {
    return this.#turns.length;
  }

  messages(): ChatMessage[] {
    const all = this.#turns.flatMap(({ messages }) => chatMessages(messages, this.#rules));
    return all.length === 0 || all[0]?.role === 'user' ? all : [beginning, ...all];
  }

  /** Leaves the oldest turns out. @returns their messages. */
  drop(turns: number): SessionMessage[] {
    const dropped = this.#turns.splice(0, turns);
    const { number: prompts = this.leftOut.prompts } = dropped.at(-1) ?? {};
    this.leftOut = { ...this.leftOut, prompts };
    return dropped.flatMap(({ messages }) => messages);
  }

  /** Tells how many of the oldest turns have to go, so that the others have so many tokens at most. */
  tooMany(tokens: number): number {
    let rest = tokens;
    const turns = this.#turns.toReversed();
    const over = turns.findIndex(({ messages }) => {
      rest -= tokensOf(chatMessages(messages, this.#rules));
      return rest < 0;
    });
    return over < 0 ? 0 : turns.length - over;
  }
}
