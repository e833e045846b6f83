import type {
  AgentEnd,
  AssistantMessage,
  MessageEnd,
  MessageStart,
  SessionEvent,
} from '@sluice/sdk/stream';
import { type RunDispatcher, RunFailure } from '../run/index.js';
import { saidWhole } from './said/say.js';
import type { AgentTurnCallbacks } from './turn-callbacks.js';

type Left = readonly SessionEvent[];

/**
 * The messages of a model as `agent.llm.returning` leaves them (spec §16.32). Nothing of one is shown before it is judged, unless each
 * handler that judges it lets parts of it be shown.
 */
export class JudgedAnswers {
  /** A message was changed: an answer that a handler has emptied was given. */
  hasChanged = false;
  readonly #passed = new WeakMap<AssistantMessage, AssistantMessage>();
  readonly #run: RunDispatcher;
  readonly #showsWhole: boolean;
  /** Of the message that is open: nothing of it is shown. */
  #isHeld: boolean | undefined;

  constructor(run: RunDispatcher, callbacks: AgentTurnCallbacks = {}) {
    const { onBlockReply, blockReplyBreak, blockReplyChunking, reasoningMode } = callbacks;
    this.#run = run;
    // else a part that has gone out as a block or a thought of its own would be final
    this.#showsWhole =
      reasoningMode !== 'stream' &&
      (onBlockReply === undefined ||
        (blockReplyBreak === 'message_end' && blockReplyChunking === undefined));
  }

  /** Parts of a message were shown that somebody has yet to judge as a whole. */
  get isOpen(): boolean {
    return this.#isHeld === false && this.#run.holdsAnswers(false);
  }

  /** Gives the events that stand for an event; nothing if it stands for itself. Rejects with the `RunFailure` of an answer that is kept back. */
  left(event: SessionEvent): Left | Promise<Left> | undefined {
    switch (event.type) {
      case 'message_start':
        return this.#isHeld === undefined ? this.#begin(event) : this.#beginAnew(event);
      case 'message_update':
        return this.#begin(event);
      case 'message_end':
        return event.message.providerError === undefined ? this.#end(event) : undefined;
      case 'agent_end':
        return this.#over(event);
      default:
        return undefined;
    }
  }

  #begin(event: SessionEvent & { readonly message: AssistantMessage }): Left | undefined {
    if (event.message.providerError !== undefined) return undefined;
    this.#isHeld ??= this.#run.holdsAnswers(this.#showsWhole);
    return this.#isHeld ? [] : undefined;
  }

  /** A message begins, and the one before has no end: nobody has judged that one. */
  #beginAnew(event: MessageStart): Left {
    const ends = this.isOpen ? [endedBy('it was not brought to its end')] : [];
    this.#isHeld = undefined;
    return [...ends, ...(this.#begin(event) ?? [event])];
  }

  /** @throws RunFailure if a message that somebody judges has no end. */
  #over(event: AgentEnd): Left | undefined {
    const isOpen = this.#isHeld === true || this.isOpen;
    if (isOpen && event.error === undefined && !event.aborted)
      throw new RunFailure(
        'stage-failed',
        'the last message was not brought to its end: nobody could judge it',
      );
    const ended = this.hasChanged ? { ...event, messages: this.#known(event) } : event;
    if (this.isOpen) return [endedBy(event.error?.message ?? 'it was stopped'), ended];
    return ended === event ? undefined : [ended];
  }

  /** The judgement of a message, for its provider. */
  judge(message: AssistantMessage): AssistantMessage | Promise<AssistantMessage> {
    return this.#run.llmReturning(message, this.#isHeld === false);
  }

  #end(event: MessageEnd): Left | Promise<Left> | undefined {
    const { message } = event;
    const judging = this.judge(message);
    if (judging === message && this.#isHeld !== true) {
      this.#isHeld = undefined;
      return undefined;
    }
    return this.#judged(event, judging);
  }

  async #judged(event: MessageEnd, judging: AssistantMessage | Promise<AssistantMessage>) {
    let message: AssistantMessage;
    try {
      message = await judging;
    } catch (error) {
      await this.#run.withhold(event.message, error);
      throw error;
    }
    this.hasChanged ||= message !== event.message;
    this.#passed.set(event.message, message);
    const isHeld = this.#isHeld;
    this.#isHeld = undefined;
    return isHeld === true ? saidWhole(message) : [{ ...event, message }];
  }

  #known({ messages }: AgentEnd): AgentEnd['messages'] {
    return messages.flatMap((one) =>
      one.role === 'assistant' ? (this.#passed.get(one) ?? []) : one,
    );
  }
}

/** Ends a message of which parts were shown, and of which nothing is to be sent: nobody has judged it. */
export function endedBy(errorMessage: string): SessionEvent {
  const message = { role: 'assistant', content: [], stopReason: 'error', errorMessage } as const;
  return { type: 'message_end', message };
}
