import type { AssistantMessage, MessageUpdate } from '../../stream/index.js';
import type { ReplyEmitter } from './emit/reply-emitter.js';
import { GrowingReasoning } from './text/reasoning-text.js';

type ThinkingEvent = Extract<
  MessageUpdate['assistantMessageEvent'],
  { type: `thinking_${string}` }
>;

/** The source of thoughts: blocks of thinking, tags in the text, or the message when it is whole. */
type ThoughtSource = 'blocks' | 'tags' | 'message';

/** Shows what a model thinks while it does, in reasoning mode `stream`. */
export class ReasoningReplies {
  readonly #emitter: ReplyEmitter;
  /** Thoughts are shown as they come: the mode asks for it, and somebody listens. */
  readonly isStreaming: boolean;
  #growing = new GrowingReasoning();
  /** The formatted thoughts that were shown last. */
  #shown: string | undefined;
  #source: ThoughtSource | undefined;
  /** The last block of thinking says something: what it grows by can be shown as it comes. */
  #isLastVisible = false;
  #isOpen = false;
  /** How many blocks of thinking the message had when it was read last, and how long they were. */
  #read: { blocks: number; length: number } | undefined;

  constructor(emitter: ReplyEmitter, isStreaming: boolean) {
    this.#emitter = emitter;
    this.isStreaming = isStreaming && emitter.has('onReasoningStream');
  }

  startMessage(): void {
    this.#growing = new GrowingReasoning();
    this.#shown = undefined;
    this.#source = undefined;
    this.#isOpen = false;
    this.#read = undefined;
  }

  /** The thoughts of the message grew. What the message holds counts; without, what the event does. */
  think(message: AssistantMessage, event: ThinkingEvent): void {
    if (!this.isStreaming) return;
    const delta = 'delta' in event ? event.delta : '';
    const before = this.#read;
    const read = measure(message);
    this.#read = read;
    const hasGrown = before?.blocks === read.blocks && read.length === before.length + delta.length;
    const isShown = this.#source === 'blocks' && this.#isLastVisible;
    if (hasGrown && delta !== '' && isShown) this.show('blocks', '', delta);
    else {
      const thinking = thinkingOf(message);
      this.#isLastVisible = thinking.isLastVisible;
      this.show('blocks', thinking.text || ('content' in event && event.content) || delta);
    }
  }

  /** The thoughts are these now. @param grownBy what came to those that were shown last from the same source. */
  show(source: ThoughtSource, thinking: string, grownBy?: string): void {
    const isSame = source === this.#source;
    if (!this.isStreaming || (isSame ? grownBy === '' : thinking === '')) return;
    const added = isSame ? grownBy : undefined;
    if (added === undefined) this.#growing = new GrowingReasoning();
    this.#source = source;
    const before = this.#shown;
    const change = this.#growing.append(added ?? thinking);
    if (change === undefined || (added === undefined && change.text === before)) return;
    const { text } = change;
    this.#shown = text;
    const isGrown = added === undefined && before !== undefined && text.startsWith(before);
    const delta = isGrown ? text.slice(before.length) : change.delta;
    this.#emitter.report('thinking', { text, delta }, {}, false);
    void this.#emitter.call('onReasoningStream', { text });
  }

  /** The message is whole, whatever it left open. */
  endMessage(): void {
    this.#isOpen = false;
  }

  /** The model thinks. */
  begin(): void {
    this.#isOpen = true;
  }

  /** The model has stopped thinking. Told once for each time it began. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    void this.#emitter.call('onReasoningEnd');
  }
}

/** How many blocks of thinking a message has, and how long they are together: that is read at no cost. */
function measure(message: AssistantMessage): { blocks: number; length: number } {
  let blocks = 0;
  let length = 0;
  for (const block of message.content) {
    if (block.type !== 'thinking') continue;
    blocks++;
    length += block.thinking.length;
  }
  return { blocks, length };
}

/** The blocks of thinking, joined. The space at the end stays: more may come. */
function thinkingOf(message: AssistantMessage): { text: string; isLastVisible: boolean } {
  let text = '';
  let isLastVisible = false;
  for (const block of message.content) {
    if (block.type !== 'thinking') continue;
    const thought = block.thinking.trimStart();
    isLastVisible = thought !== '';
    if (isLastVisible) text = text === '' ? thought : `${text.trimEnd()}\n${thought}`;
  }
  return { text, isLastVisible };
}
