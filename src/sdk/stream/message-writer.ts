import { grownBy } from './growing-text.js';
import type { SessionEvent } from './session-event.js';
import type { AssistantContent, AssistantMessage, ToolCallContent } from './session-message.js';

/** The block that grows. */
interface Block {
  readonly type: 'text' | 'thinking';
  text: string;
}

/** The message that grows: every event of it refers to it. */
interface Growing {
  readonly message: AssistantMessage;
  readonly content: AssistantContent[];
  block?: Block | undefined;
}

/**
 * Writes the session events of an agent's messages while they grow: a message begins with its first piece, and a block ends when
 * another begins. Each method returns the events that come of it, in order.
 *
 * @example
 * const writer = new MessageWriter({ provider: 'parrot', model: 'parrot' });
 * yield { type: 'agent_start' };
 * for await (const delta of words) yield* writer.grow('text', delta);
 * yield* writer.end();
 * yield { type: 'agent_end', messages: writer.messages };
 */
export class MessageWriter {
  /** The messages that have ended. */
  readonly messages: AssistantMessage[] = [];
  readonly #by: Pick<AssistantMessage, 'provider' | 'model'>;
  readonly #now: (() => number) | undefined;
  #growing: Growing | undefined;

  /** @param now the clock of the messages, which have no time without it. */
  constructor(by: Pick<AssistantMessage, 'provider' | 'model'>, now?: () => number) {
    this.#by = by;
    this.#now = now;
  }

  /** Adds a piece of a text or of a thought. */
  grow(type: 'text' | 'thinking', delta: string): SessionEvent[] {
    const events: SessionEvent[] = [];
    const growing = this.#begun(events);
    if (growing.block?.type !== type) {
      endBlock(growing, events);
      growing.block = { type, text: '' };
      growing.content.push(pieceOf(growing.block));
      events.push(update(growing, { type: `${type}_start`, ...at(growing) }));
    }
    if (delta === '') return events;
    growing.block.text = grownBy(growing.block.text, delta);
    growing.content[growing.content.length - 1] = pieceOf(growing.block);
    events.push(update(growing, { type: `${type}_delta`, delta, ...at(growing) }));
    return events;
  }

  /** Adds the wish to call a tool. */
  call(call: Omit<ToolCallContent, 'type'>): SessionEvent[] {
    const events: SessionEvent[] = [];
    const growing = this.#begun(events);
    endBlock(growing, events);
    growing.content.push({ type: 'toolCall', ...call });
    return events;
  }

  /** Ends the message, if one is open. Unless told otherwise, it stops for its tool calls, or because it is whole. */
  end(
    fields: Pick<AssistantMessage, 'stopReason' | 'usage' | 'errorMessage'> = {},
  ): SessionEvent[] {
    const events: SessionEvent[] = [];
    if (this.#growing === undefined) return events;
    const { message, content } = this.#growing;
    endBlock(this.#growing, events);
    this.#growing = undefined;
    const calls = content.some(({ type }) => type === 'toolCall');
    Object.assign(message, { stopReason: calls ? 'toolUse' : 'stop' }, fields);
    this.messages.push(message);
    events.push({ type: 'message_end', message });
    return events;
  }

  /** Makes thoughts of the texts of the open message: something after them has told that they are none of the answer. */
  rethink(): SessionEvent[] {
    const events = this.endBlock();
    const { content = [] } = this.#growing ?? {};
    for (const [index, one] of content.entries())
      if (one.type === 'text') content[index] = { type: 'thinking', thinking: one.text };
    return events;
  }

  /** Puts a text in the place of the texts of the open message. The pieces that were shown stay. */
  correct(text: string): SessionEvent[] {
    const events = this.endBlock();
    const { content = [] } = this.#growing ?? {};
    const at = content.findIndex(({ type }) => type === 'text');
    const kept = content.filter(({ type }, index) => type !== 'text' || index === at);
    content.splice(0, content.length, ...kept);
    if (at >= 0) content[at] = { type: 'text', text };
    return events;
  }

  /** Ends the block that grows: a further piece begins another. */
  endBlock(): SessionEvent[] {
    const events: SessionEvent[] = [];
    if (this.#growing !== undefined) endBlock(this.#growing, events);
    return events;
  }

  #begun(events: SessionEvent[]): Growing {
    if (this.#growing !== undefined) return this.#growing;
    const content: AssistantContent[] = [];
    const time = this.#now === undefined ? {} : { timestamp: this.#now() };
    const message: AssistantMessage = { role: 'assistant', content, ...this.#by, ...time };
    events.push({ type: 'message_start', message });
    this.#growing = { message, content };
    return this.#growing;
  }
}

function endBlock(growing: Growing, events: SessionEvent[]): void {
  const { block } = growing;
  if (block === undefined) return;
  const end = { type: `${block.type}_end` as const, content: block.text, ...at(growing) };
  events.push(update(growing, end));
  growing.block = undefined;
}

function pieceOf({ type, text }: Block): AssistantContent {
  return type === 'text' ? { type, text } : { type, thinking: text };
}

/** It comes last in a literal: V8 adds fields to a spread object one by one (test/bench/NOTES.md). */
function at({ message, content }: Growing): { contentIndex: number; partial: AssistantMessage } {
  return { contentIndex: content.length - 1, partial: message };
}

type Update = Extract<SessionEvent, { type: 'message_update' }>['assistantMessageEvent'];

function update({ message }: Growing, assistantMessageEvent: Update): SessionEvent {
  return { type: 'message_update', message, assistantMessageEvent };
}
