import type { ReplyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions } from './emit/reply-options.js';
import type { ReasoningReplies } from './reasoning-replies.js';
import { DirectiveQueue } from './text/directives/directive-queue.js';
import { GrowingReply } from './text/growing-reply.js';
import { ShownText } from './text/shown-text.js';
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
  function show(
    text: string,
    delta: string,
    mediaUrls: readonly string[],
    isPartial: boolean,
  ): void {
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
