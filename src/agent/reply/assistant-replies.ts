import type { AssistantMessage, AssistantMessageEvent, MessageUpdate } from '@sluice/sdk/stream';
import { blockReplies, type ReplyScope } from './block-replies.js';
import { partialReplies } from './partial-replies.js';
import { reasoningReplies } from './reasoning-replies.js';
import { withoutOpenDirective } from './text/directives/open-directive.js';
import { readDirectives, silentReply } from './text/directives/read-directives.js';
import { HeldTail } from './text/held-tail.js';
import { readMessage } from './text/message-text.js';
import { formatReasoning } from './text/reasoning-text.js';
import { GrowingThoughts } from './text/tagged-thoughts.js';

/** Shows a host a message of the model: its text while it grows, its pieces, its thoughts. */
export function assistantReplies(scope: ReplyScope) {
  let tail = new HeldTail();
  let thoughts = new GrowingThoughts();
  /** All that came of the message's text, to find out what a block's end repeats. */
  let whole = '';
  /** The thoughts of the message that were handed over. */
  let sentReasoning: string | undefined;
  let isAsking = false;
  const { options, emitter, texts, sends, wording } = scope;
  const reasoning = reasoningReplies(emitter, options.reasoningMode === 'stream');
  const partial = partialReplies(options, emitter, reasoning);
  const blocks = blockReplies(scope);
  const endsWithText = (options.blockReplyBreak ?? 'text_end') === 'text_end';

  function reset(): void {
    texts.startMessage();
    sentReasoning = undefined;
    forget();
    reasoning.startMessage();
    partial.startMessage();
    blocks.startMessage();
  }

  /** The text of a message that was not shown while it grew. */
  function showWhole(text: string): void {
    if (partial.hasShown() || text === '') return;
    const { text: visible, mediaUrls } = readDirectives(withoutOpenDirective(text.trim()));
    if (visible === '' && mediaUrls.length === 0) return;
    partial.show(visible, visible, mediaUrls, false);
  }

  function settleTexts(text: string): void {
    if (options.reasoningMode === 'on' && text !== '' && !blocks.isWanted) {
      if (texts.hasAny) texts.replaceWith(text);
      else texts.add(text);
      blocks.silence();
    } else if (!texts.hasAny && !blocks.isCutting() && text !== '') {
      texts.add(text);
    }
    texts.settle();
  }

  /** Gives the text that a messaging tool sent, if the model says nothing after it. */
  function orWhatWasSent(text: string): string {
    return text.trim() === silentReply ? (sends.lastText ?? text) : text;
  }

  function readText(event: AssistantMessageEvent): void {
    if (event.type === 'text_start') {
      showThoughts('');
      blocks.cut();
    } else if (event.type === 'text_delta') {
      whole += event.delta;
      append(tail.push(event.delta), false);
    } else if (event.type === 'text_end') {
      const piece = newIn(event.content);
      whole += piece;
      append(tail.push(piece) + tail.release(), true);
      if (endsWithText) blocks.flush();
    }
  }

  /** Gives the part of a block's whole text that its pieces did not have. */
  function newIn(content: string): string {
    const known = whole;
    if (content === '' || content === known) return '';
    if (content.startsWith(known)) return content.slice(known.length);
    return known.includes(content) ? '' : content;
  }

  function append(piece: string, isLast: boolean): void {
    if (piece === '' && !isLast) return;
    if (piece !== '') blocks.append(piece);
    showThoughts(piece);
    partial.append(piece, isLast);
    blocks.cut();
  }

  function showThoughts(piece: string): void {
    if (!reasoning.isStreaming) return;
    const { text, added } = thoughts.append(piece);
    reasoning.show('tags', text, added);
  }

  function forget(): void {
    tail = new HeldTail();
    thoughts = new GrowingThoughts();
    whole = '';
  }

  return {
    blocks,
    /** Shows nothing more of the model: a tool asked people for approval, and other texts would only confuse them. */
    silence(): void {
      isAsking = true;
    },
    /** A message begins. */
    start(): void {
      reset();
      void emitter.call('onAssistantMessageStart');
    },
    /** The run is tried again. */
    startOver(): void {
      isAsking = false;
      reset();
    },
    update(update: MessageUpdate): void {
      const event = update.assistantMessageEvent;
      if (isAsking) return;
      switch (event.type) {
        case 'thinking_start':
        case 'thinking_delta':
        case 'thinking_end':
          reasoning.begin();
          reasoning.think(update.message, event);
          if (event.type === 'thinking_end') reasoning.end();
          return;
        default:
          readText(event);
      }
    },
    /** Shows the end of the text that was held back: something else comes, so no tag can be made of it. */
    release(): void {
      if (tail.isEmpty || isAsking) return;
      append(tail.release(), false);
    },
    end(message: AssistantMessage): void {
      if (isAsking) return;
      const { enforceFinalTag, reasoningMode } = options;
      const read = readMessage(message, enforceFinalTag === true, wording.formatErroredText);
      const text = orWhatWasSent(read.text);
      const formatted = reasoningMode === 'on' ? formatReasoning(read.thinking) : '';
      showWhole(text);
      const hadTexts = texts.hasAny;
      settleTexts(text);
      const isNew = formatted !== '' && formatted !== sentReasoning;
      const showsReasoning = isNew && blocks.isWanted;
      if (showsReasoning) sentReasoning = formatted;
      const isReasoningFirst = showsReasoning && !endsWithText && !hadTexts;
      if (isReasoningFirst) blocks.sendReasoning(formatted);
      if ((!endsWithText || blocks.isPending()) && text !== '' && blocks.isWanted) {
        if (blocks.isCutting()) blocks.flush();
        else blocks.sendWhole(text);
      }
      if (showsReasoning && !isReasoningFirst) blocks.sendReasoning(formatted);
      reasoning.show('message', read.thinking);
      if (endsWithText && blocks.isWanted) blocks.sendRest();
      forget();
      reasoning.endMessage();
      partial.endMessage();
      blocks.endMessage();
    },
  };
}
