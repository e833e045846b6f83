import type { ReplyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions } from './emit/reply-options.js';
import type { ReasoningReplies } from './reasoning-replies.js';
import { DirectiveQueue } from './text/directives/directive-queue.js';
import { GrowingReply } from './text/growing-reply.js';
import { ShownText } from './text/shown-text.js';
import { noTags, stripTags, type TagState } from './text/strip-tags.js';

/** Shows the text of a message while it grows. */
export class PartialReplies {
  readonly #emitter: ReplyEmitter;
  readonly #reasoning: ReasoningReplies;
  readonly #finalOnly: boolean;
  /** Thoughts come as a block, and the host takes no blocks: the message is shown when it is whole. */
  readonly #isHeldBack: boolean;
  readonly #directives = new DirectiveQueue();
  #reply: GrowingReply;
  #shown = new ShownText();
  #tags: TagState = noTags;
  #hasShown = false;

  constructor(options: ReplyCallbackOptions, emitter: ReplyEmitter, reasoning: ReasoningReplies) {
    this.#emitter = emitter;
    this.#reasoning = reasoning;
    this.#finalOnly = options.enforceFinalTag === true;
    this.#isHeldBack = options.reasoningMode === 'on' && !emitter.has('onBlockReply');
    this.#reply = new GrowingReply(this.#finalOnly);
  }

  /** Something of this message was shown. */
  get hasShown(): boolean {
    return this.#hasShown;
  }

  startMessage(): void {
    this.#directives.clear();
    this.#hasShown = false;
    this.#tags = noTags;
    this.endMessage();
  }

  /** Ends the text: the next piece begins another. */
  endMessage(): void {
    this.#reply = new GrowingReply(this.#finalOnly);
    this.#shown = new ShownText();
  }

  /** The text grew. @param isLast a block of it ended. */
  append(piece: string, isLast: boolean): void {
    const change = this.#reply.append(piece);
    if (change === undefined) return;
    const wasThinking = this.#tags.thinking;
    const visible = stripTags(piece, this.#tags, this.#finalOnly);
    this.#tags = visible.state;
    const read = visible.text === '' ? undefined : this.#directives.push(visible.text, isLast);
    if (!wasThinking && this.#tags.thinking) this.#reasoning.begin();
    if (wasThinking && !this.#tags.thinking) this.#reasoning.end();
    const added = this.#shown.grow(change);
    const mediaUrls = read?.mediaUrls ?? [];
    const hasMore = mediaUrls.length > 0 || read?.audioAsVoice === true;
    if (added === undefined || (added === '' && !hasMore)) return;
    this.show(change.text, added, mediaUrls, true);
  }

  /** Shows a message's text. @param isPartial it may grow. */
  show(text: string, delta: string, mediaUrls: readonly string[], isPartial: boolean): void {
    const media = mediaUrls.length === 0 ? {} : { mediaUrls };
    this.#hasShown = true;
    const partial = (): void => {
      if (isPartial && !this.#isHeldBack)
        void this.#emitter.call('onPartialReply', { text, ...media });
    };
    if (this.#emitter.isSeedOrder) partial();
    this.#emitter.report('assistant', { text, delta, ...media });
    if (!this.#emitter.isSeedOrder) partial();
  }
}
