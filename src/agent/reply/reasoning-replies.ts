import type { AssistantMessage, MessageUpdate } from '@sluice/sdk/stream';
import type { ReplyEmitter } from './emit/reply-emitter.js';
import { GrowingReasoning } from './text/reasoning-text.js';

type ThinkingEvent = Extract<
  MessageUpdate['assistantMessageEvent'],
  { type: `thinking_${string}` }
>;

/** The source of thoughts: blocks of thinking, tags in the text, or the message when it is whole. */
type ThoughtSource = 'blocks' | 'tags' | 'message';

/** Shows what a model thinks while it does, in reasoning mode `stream`. */
export function reasoningReplies(emitter: ReplyEmitter, isWanted: boolean) {
  let growing = new GrowingReasoning();
  /** The formatted thoughts that were shown last. */
  let shown: string | undefined;
  let lastSource: ThoughtSource | undefined;
  /** The last block of thinking says something: what it grows by can be shown as it comes. */
  let isLastVisible = false;
  let isOpen = false;
  /** How many blocks of thinking the message had when it was read last, and how long they were. */
  let lastRead: { blocks: number; length: number } | undefined;
  /** Thoughts are shown as they come: the mode asks for it, and somebody listens. */
  const isStreaming = isWanted && emitter.has('onReasoningStream');

  /** The thoughts are these now. @param grownBy what came to those that were shown last from the same source. */
  function show(source: ThoughtSource, thinking: string, grownBy?: string): void {
    const isSame = source === lastSource;
    if (!isStreaming || (isSame ? grownBy === '' : thinking === '')) return;
    const added = isSame ? grownBy : undefined;
    if (added === undefined) growing = new GrowingReasoning();
    lastSource = source;
    const before = shown;
    const change = growing.append(added ?? thinking);
    if (change === undefined || (added === undefined && change.text === before)) return;
    const { text } = change;
    shown = text;
    const isGrown = added === undefined && before !== undefined && text.startsWith(before);
    const delta = isGrown ? text.slice(before.length) : change.delta;
    emitter.report('thinking', { text, delta }, {}, false);
    void emitter.call('onReasoningStream', { text });
  }

  return {
    isStreaming,
    startMessage(): void {
      growing = new GrowingReasoning();
      shown = undefined;
      lastSource = undefined;
      isOpen = false;
      lastRead = undefined;
    },
    /** The thoughts of the message grew. What the message holds counts; without, what the event does. */
    think(message: AssistantMessage, event: ThinkingEvent): void {
      if (!isStreaming) return;
      const delta = 'delta' in event ? event.delta : '';
      const before = lastRead;
      const read = measure(message);
      lastRead = read;
      const hasGrown =
        before?.blocks === read.blocks && read.length === before.length + delta.length;
      const isShown = lastSource === 'blocks' && isLastVisible;
      if (hasGrown && delta !== '' && isShown) show('blocks', '', delta);
      else {
        const thinking = thinkingOf(message);
        isLastVisible = thinking.isLastVisible;
        show('blocks', thinking.text || ('content' in event && event.content) || delta);
      }
    },
    show,
    /** The message is whole, whatever it left open. */
    endMessage(): void {
      isOpen = false;
    },
    /** The model thinks. */
    begin(): void {
      isOpen = true;
    },
    /** The model has stopped thinking. Told once for each time it began. */
    end(): void {
      if (!isOpen) return;
      isOpen = false;
      void emitter.call('onReasoningEnd');
    },
  };
}

/** The parts of `reasoningReplies` that others use. */
export type ReasoningReplies = ReturnType<typeof reasoningReplies>;

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
