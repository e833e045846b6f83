import type { ReplyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions } from './emit/reply-options.js';
import type { ReasoningReplies } from './reasoning-replies.js';
import { DirectiveQueue } from './text/directives/directive-queue.js';
import { GrowingReply, type ReplyChange } from './text/growing-reply.js';
import { noTags, stripTags, type TagState } from './text/strip-tags.js';

/** Shows the text of a message while it grows. */
export function partialReplies(
  options: ReplyCallbackOptions,
  emitter: ReplyEmitter,
  reasoning: ReasoningReplies,
) {
  const directives = new DirectiveQueue();
  let shown = new ShownText();
  let tags: TagState = noTags;
  let hasShown = false;
  const finalOnly = options.enforceFinalTag === true;
  /** Thoughts come as a block, and the host takes no blocks: the message is shown when it is whole. */
  const isHeldBack = options.reasoningMode === 'on' && !emitter.has('onBlockReply');
  let reply: GrowingReply = new GrowingReply(finalOnly);

  /** Ends the text: the next piece begins another. */
  function endMessage(): void {
    reply = new GrowingReply(finalOnly);
    shown = new ShownText();
  }

  /** Shows a message's text. @param isPartial it may grow. */
  function show(text: string, delta: string, mediaUrls: readonly string[], isPartial: boolean) {
    const media = mediaUrls.length === 0 ? {} : { mediaUrls };
    hasShown = true;
    const partial = (): void => {
      if (isPartial && !isHeldBack) void emitter.call('onPartialReply', { text, ...media });
    };
    if (emitter.isSeedOrder) partial();
    emitter.report('assistant', { text, delta, ...media });
    if (!emitter.isSeedOrder) partial();
  }

  return {
    /** Something of this message was shown. */
    hasShown: (): boolean => hasShown,
    startMessage(): void {
      directives.clear();
      hasShown = false;
      tags = noTags;
      endMessage();
    },
    endMessage,
    /** The text grew. @param isLast a block of it ended. */
    append(piece: string, isLast: boolean): void {
      const change = reply.append(piece);
      if (change === undefined) return;
      const wasThinking = tags.thinking;
      const visible = stripTags(piece, tags, finalOnly);
      tags = visible.state;
      const read = visible.text === '' ? undefined : directives.push(visible.text, isLast);
      if (!wasThinking && tags.thinking) reasoning.begin();
      if (wasThinking && !tags.thinking) reasoning.end();
      const added = shown.grow(change);
      const mediaUrls = read?.mediaUrls ?? [];
      const hasMore = mediaUrls.length > 0 || read?.audioAsVoice === true;
      if (added === undefined || (added === '' && !hasMore)) return;
      show(change.text, added, mediaUrls, true);
    },
    show,
  };
}

/**
 * The shown part of a text that grows. A text can lose a part that was shown: a tag is known as one only when the tag
 * within it is gone. Such a text is shown once more when it goes on from the shown part. The cost depends on the
 * change, not on the text.
 */
class ShownText {
  #text = '';
  /** The text from `#from` on, apart: to read that out of a text that grew piece by piece would join all of it. */
  #end = '';
  #from = 0;
  /** The length of the shown text that the text begins with now. */
  #matched = 0;
  /** The rest of the text, if it begins with all that was shown. */
  #more = '';

  /** Takes a change. Gives the growth of the shown text; nothing if the change cannot be shown. */
  grow(change: ReplyChange): string | undefined {
    const wasShown = this.#matched === this.#text.length && this.#more === '';
    this.#match(change);
    if (!change.isGrown) return undefined;
    const added = this.#more;
    if (added === '') return wasShown ? '' : undefined;
    this.#text = change.text;
    this.#end = change.end;
    this.#from = change.kept;
    this.#matched = change.text.length;
    this.#more = '';
    return added;
  }

  #match({ kept, end }: ReplyChange): void {
    if (kept >= this.#text.length && this.#matched === this.#text.length) {
      this.#more = this.#more.slice(0, kept - this.#text.length) + end;
    } else if (kept <= this.#matched) {
      const rest = kept < this.#from ? this.#text.slice(kept) : this.#end.slice(kept - this.#from);
      const isWhole = end.startsWith(rest);
      this.#matched = isWhole ? this.#text.length : kept + commonLength(rest, end);
      this.#more = isWhole ? end.slice(rest.length) : '';
    } // else they differ before what is kept
  }
}

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}
