import type { AssistantMessage, AssistantMessageEvent, MessageUpdate } from '@sluice/sdk/stream';
import { grownBy } from '@sluice/sdk/stream/internal';
import { blockReplies, type ReplyScope } from './block-replies.js';
import { partialReplies } from './partial-replies.js';
import { type ReasoningReplies, reasoningReplies } from './reasoning-replies.js';
import { withoutOpenDirective } from './text/directives/open-directive.js';
import { readDirectives, silentReply } from './text/directives/read-directives.js';
import { HeldTail } from './text/held-tail.js';
import { readMessage } from './text/message-text.js';
import { formatReasoning } from './text/reasoning-text.js';
import { GrowingThoughts } from './text/tagged-thoughts.js';

/** Shows a host a message of the model: its text while it grows, its pieces, its thoughts. */
export class AssistantReplies {
  readonly blocks: ReturnType<typeof blockReplies>;
  readonly #scope: ReplyScope;
  readonly #reasoning: ReasoningReplies;
  readonly #partial: ReturnType<typeof partialReplies>;
  readonly #endsWithText: boolean;
  #tail = new HeldTail();
  #thoughts = new GrowingThoughts();
  /** All that came of the message's text, to find out what a block's end repeats. */
  #whole = '';
  /** The thoughts of the message that were handed over. */
  #sentReasoning: string | undefined;
  #isAsking = false;

  constructor(scope: ReplyScope) {
    const { options, emitter } = scope;
    this.#scope = scope;
    this.#reasoning = reasoningReplies(emitter, options.reasoningMode === 'stream');
    this.#partial = partialReplies(options, emitter, this.#reasoning);
    this.blocks = blockReplies(scope);
    this.#endsWithText = (options.blockReplyBreak ?? 'text_end') === 'text_end';
  }

  /** Shows nothing more of the model: a tool asked people for approval, and other texts would only confuse them. */
  silence(): void {
    this.#isAsking = true;
  }

  /** A message begins. */
  start(): void {
    this.#reset();
    void this.#scope.emitter.call('onAssistantMessageStart');
  }

  /** The run is tried again. */
  startOver(): void {
    this.#isAsking = false;
    this.#reset();
  }

  update(update: MessageUpdate): void {
    const event = update.assistantMessageEvent;
    if (this.#isAsking) return;
    switch (event.type) {
      case 'thinking_start':
      case 'thinking_delta':
      case 'thinking_end':
        this.#reasoning.begin();
        this.#reasoning.think(update.message, event);
        if (event.type === 'thinking_end') this.#reasoning.end();
        return;
      default:
        this.#readText(event);
    }
  }

  /** Shows the end of the text that was held back: something else comes, so no tag can be made of it. */
  release(): void {
    if (this.#tail.isEmpty || this.#isAsking) return;
    this.#append(this.#tail.release(), false);
  }

  end(message: AssistantMessage): void {
    if (this.#isAsking) return;
    const { enforceFinalTag, reasoningMode } = this.#scope.options;
    const { formatErroredText } = this.#scope.wording;
    const read = readMessage(message, enforceFinalTag === true, formatErroredText);
    const text = this.#orWhatWasSent(read.text);
    const formatted = reasoningMode === 'on' ? formatReasoning(read.thinking) : '';
    this.#showWhole(text);
    const hadTexts = this.#scope.texts.hasAny;
    this.#settleTexts(text);
    const isNew = formatted !== '' && formatted !== this.#sentReasoning;
    const showsReasoning = isNew && this.blocks.isWanted;
    if (showsReasoning) this.#sentReasoning = formatted;
    const isReasoningFirst = showsReasoning && !this.#endsWithText && !hadTexts;
    if (isReasoningFirst) this.blocks.sendReasoning(formatted);
    if ((!this.#endsWithText || this.blocks.isPending()) && text !== '' && this.blocks.isWanted) {
      if (this.blocks.isCutting()) this.blocks.flush();
      else this.blocks.sendWhole(text);
    }
    if (showsReasoning && !isReasoningFirst) this.blocks.sendReasoning(formatted);
    this.#reasoning.show('message', read.thinking);
    if (this.#endsWithText && this.blocks.isWanted) this.blocks.sendRest();
    this.#forget();
    this.#reasoning.endMessage();
    this.#partial.endMessage();
    this.blocks.endMessage();
  }

  #reset(): void {
    this.#scope.texts.startMessage();
    this.#sentReasoning = undefined;
    this.#forget();
    this.#reasoning.startMessage();
    this.#partial.startMessage();
    this.blocks.startMessage();
  }

  /** The text of a message that was not shown while it grew. */
  #showWhole(text: string): void {
    if (this.#partial.hasShown() || text === '') return;
    const { text: visible, mediaUrls } = readDirectives(withoutOpenDirective(text.trim()));
    if (visible === '' && mediaUrls.length === 0) return;
    this.#partial.show(visible, visible, mediaUrls, false);
  }

  #settleTexts(text: string): void {
    if (this.#scope.options.reasoningMode === 'on' && text !== '' && !this.blocks.isWanted) {
      if (this.#scope.texts.hasAny) this.#scope.texts.replaceWith(text);
      else this.#scope.texts.add(text);
      this.blocks.silence();
    } else if (!this.#scope.texts.hasAny && !this.blocks.isCutting() && text !== '') {
      this.#scope.texts.add(text);
    }
    this.#scope.texts.settle();
  }

  /** Gives the text that a messaging tool sent, if the model says nothing after it. */
  #orWhatWasSent(text: string): string {
    return text.trim() === silentReply ? (this.#scope.sends.lastText ?? text) : text;
  }

  #readText(event: AssistantMessageEvent): void {
    if (event.type === 'text_start') {
      this.#showThoughts('');
      this.blocks.cut();
    } else if (event.type === 'text_delta') {
      this.#whole = grownBy(this.#whole, event.delta);
      this.#append(this.#tail.push(event.delta), false);
    } else if (event.type === 'text_end') {
      const piece = this.#newIn(event.content);
      this.#whole += piece;
      this.#append(this.#tail.push(piece) + this.#tail.release(), true);
      if (this.#endsWithText) this.blocks.flush();
    }
  }

  /** Gives the part of a block's whole text that its pieces did not have. */
  #newIn(content: string): string {
    const known = this.#whole;
    if (content === '' || content === known) return '';
    if (content.startsWith(known)) return content.slice(known.length);
    return known.includes(content) ? '' : content;
  }

  #append(piece: string, isLast: boolean): void {
    if (piece === '' && !isLast) return;
    if (piece !== '') this.blocks.append(piece);
    this.#showThoughts(piece);
    this.#partial.append(piece, isLast);
    this.blocks.cut();
  }

  #showThoughts(piece: string): void {
    if (!this.#reasoning.isStreaming) return;
    const { text, added } = this.#thoughts.append(piece);
    this.#reasoning.show('tags', text, added);
  }

  #forget(): void {
    this.#tail = new HeldTail();
    this.#thoughts = new GrowingThoughts();
    this.#whole = '';
  }
}
