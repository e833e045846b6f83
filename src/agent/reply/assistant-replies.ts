import type { AssistantMessage, AssistantMessageEvent, MessageUpdate } from '../../stream/index.js';
import { BlockReplies } from './block-replies.js';
import { PartialReplies } from './partial-replies.js';
import { ReasoningReplies } from './reasoning-replies.js';
import type { ReplyScope } from './reply-scope.js';
import { withoutOpenDirective } from './text/directives/open-directive.js';
import { readDirectives, silentReply } from './text/directives/read-directives.js';
import { HeldTail } from './text/held-tail.js';
import { readMessage } from './text/message-text.js';
import { formatReasoning } from './text/reasoning-text.js';
import { GrowingThoughts } from './text/tagged-thoughts.js';

type TextEvent = Extract<AssistantMessageEvent, { type: `text_${string}` }>;

/** Shows a host a message of the model: its text while it grows, its pieces, its thoughts. */
export class AssistantReplies {
  readonly blocks: BlockReplies;
  readonly #with: ReplyScope;
  readonly #reasoning: ReasoningReplies;
  readonly #partial: PartialReplies;
  readonly #endsWithText: boolean;
  #tail = new HeldTail();
  #thoughts = new GrowingThoughts();
  /** All that came of the message's text, to find out what a block's end repeats. */
  #text = '';
  /** The thoughts of the message that were handed over. */
  #sentReasoning: string | undefined;
  #isAsking = false;

  constructor(scope: ReplyScope) {
    const { options, emitter } = scope;
    this.#with = scope;
    this.#reasoning = new ReasoningReplies(emitter, options.reasoningMode === 'stream');
    this.#partial = new PartialReplies(options, emitter, this.#reasoning);
    this.blocks = new BlockReplies(scope);
    this.#endsWithText = (options.blockReplyBreak ?? 'text_end') === 'text_end';
  }

  /** Shows nothing more of the model: a tool asked people for approval, and other texts would only confuse them. */
  silence(): void {
    this.#isAsking = true;
  }

  /** A message begins. */
  start(): void {
    this.#reset();
    void this.#with.emitter.call('onAssistantMessageStart');
  }

  /** The run is tried again. */
  startOver(): void {
    this.#isAsking = false;
    this.#reset();
  }

  #reset(): void {
    this.#with.texts.startMessage();
    this.#sentReasoning = undefined;
    this.#forget();
    this.#reasoning.startMessage();
    this.#partial.startMessage();
    this.blocks.startMessage();
  }

  update(update: MessageUpdate): void {
    const event = update.assistantMessageEvent;
    switch (event.type) {
      case 'thinking_start':
      case 'thinking_delta':
      case 'thinking_end':
        if (this.#isAsking) return;
        this.#reasoning.begin();
        this.#reasoning.think(update.message, event);
        if (event.type === 'thinking_end') this.#reasoning.end();
        return;
      case 'text_start':
      case 'text_delta':
      case 'text_end':
        if (!this.#isAsking) this.#read(event);
    }
  }

  /** Shows the end of the text that was held back: something else comes, so no tag can be made of it. */
  release(): void {
    if (this.#tail.isEmpty || this.#isAsking) return;
    this.#append(this.#tail.release(), false);
  }

  end(message: AssistantMessage): void {
    if (this.#isAsking) return;
    const { options, texts, wording } = this.#with;
    const { enforceFinalTag, reasoningMode } = options;
    const read = readMessage(message, enforceFinalTag === true, wording.formatErroredText);
    const text = this.#orWhatWasSent(read.text);
    const reasoning = reasoningMode === 'on' ? formatReasoning(read.thinking) : '';
    this.#showWhole(text);
    const hadTexts = texts.hasAny;
    this.#settleTexts(text);
    const isNew = reasoning !== '' && reasoning !== this.#sentReasoning;
    const showsReasoning = isNew && this.blocks.isWanted;
    if (showsReasoning) this.#sentReasoning = reasoning;
    const isReasoningFirst = showsReasoning && !this.#endsWithText && !hadTexts;
    if (isReasoningFirst) this.blocks.sendReasoning(reasoning);
    if ((!this.#endsWithText || this.blocks.isPending) && text !== '' && this.blocks.isWanted) {
      if (this.blocks.isCutting) this.blocks.flush();
      else this.blocks.sendWhole(text);
    }
    if (showsReasoning && !isReasoningFirst) this.blocks.sendReasoning(reasoning);
    this.#reasoning.show('message', read.thinking);
    if (this.#endsWithText && this.blocks.isWanted) this.blocks.sendRest();
    this.#forget();
    this.#reasoning.endMessage();
    this.#partial.endMessage();
    this.blocks.endMessage();
  }

  /** The text of a message that was not shown while it grew. */
  #showWhole(text: string): void {
    if (this.#partial.hasShown || text === '') return;
    const { text: visible, mediaUrls } = readDirectives(withoutOpenDirective(text.trim()));
    if (visible === '' && mediaUrls.length === 0) return;
    this.#partial.show(visible, visible, mediaUrls, false);
  }

  #settleTexts(text: string): void {
    const { options, texts } = this.#with;
    if (options.reasoningMode === 'on' && text !== '' && !this.blocks.isWanted) {
      if (texts.hasAny) texts.replaceWith(text);
      else texts.add(text);
      this.blocks.silence();
    } else if (!texts.hasAny && !this.blocks.isCutting && text !== '') {
      texts.add(text);
    }
    texts.settle();
  }

  /** Gives the text that a messaging tool sent, if the model says nothing after it. */
  #orWhatWasSent(text: string): string {
    return text.trim() === silentReply ? (this.#with.sends.lastText ?? text) : text;
  }

  #read(event: TextEvent): void {
    if (event.type === 'text_start') {
      this.#showThoughts('');
      this.blocks.cut();
    } else if (event.type === 'text_delta') {
      this.#text += event.delta;
      this.#append(this.#tail.push(event.delta), false);
    } else if (event.type === 'text_end') {
      const piece = this.#newIn(event.content);
      this.#text += piece;
      this.#append(this.#tail.push(piece) + this.#tail.release(), true);
      if (this.#endsWithText) this.blocks.flush();
    }
  }

  /** Gives the part of a block's whole text that its pieces did not have. */
  #newIn(content: string): string {
    const known = this.#text;
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
    this.#text = '';
  }
}
