import { grownBy } from '@sluice/sdk/stream/internal';
import { definedFields } from 'sluice-kernel/internal';
import { BlockChunker } from './block-chunker.js';
import type { BlockReply } from './emit/reply-payload.js';
import type { RunTexts } from './run-texts.js';

import { DirectiveQueue } from './text/directives/directive-queue.js';
import type { DirectedText } from './text/directives/read-directives.js';
import { noTags, stripTags, type TagState } from './text/strip-tags.js';
import type { ToolScope } from './tools/tool-replies.js';

/** The parts of a run's replies that all of them share. */
export interface ReplyScope extends ToolScope {
  readonly texts: RunTexts;
}

/** Hands the finished pieces of a run's messages over, each text once. */
export function blockReplies(scope: ReplyScope) {
  const directives = new DirectiveQueue();
  /** The text that waits to be handed over, if texts are not cut. */
  let pending = '';
  let tags: TagState = noTags;
  let last: string | undefined;
  let isSilenced = false;
  const { options, emitter, sends, texts } = scope;
  const { blockReplyChunking, blockReplyBreak = 'text_end', enforceFinalTag } = options;
  const finalOnly = enforceFinalTag === true;
  const chunker = blockReplyChunking && new BlockChunker(blockReplyChunking);
  /** A host wants block replies. */
  const isWanted = emitter.has('onBlockReply');
  const isCutAsItComes = blockReplyBreak === 'text_end' && isWanted;

  function endMessage(): void {
    pending = '';
    chunker?.clear();
    tags = noTags; // the message, or the run, is over
  }

  function handOver(block: string): void {
    if (isSilenced) return;
    const read = stripTags(block, tags, finalOnly);
    tags = read.state;
    const text = read.text.trimEnd();
    if (text === '' || text === last) return;
    if (sends.hasSent(text) || texts.isRepeat(text)) return;
    last = text;
    texts.add(text);
    if (isWanted) send(directives.push(text));
  }

  function send(read: DirectedText | undefined): void {
    if (read !== undefined) emitter.callLater('onBlockReply', blockReply(read));
  }

  return {
    isWanted,
    /** Some of the text waits to be cut. */
    isCutting: (): boolean => chunker?.isEmpty === false,
    /** Some of the text was not handed over yet. */
    isPending: (): boolean => (chunker === undefined ? pending !== '' : !chunker.isEmpty),
    startMessage(): void {
      directives.clear();
      last = undefined;
      isSilenced = false;
      endMessage();
    },
    append(text: string): void {
      if (chunker === undefined) pending = grownBy(pending, text);
      else chunker.append(text);
    },
    /** Hands over what can be cut off by now. */
    cut(): void {
      if (chunker === undefined || !isCutAsItComes) return;
      for (const block of chunker.drain(false)) handOver(block);
    },
    /** Hands over all that is left. */
    flush(): void {
      if (!isWanted) return;
      const left = chunker?.drain(true) ?? [pending];
      pending = '';
      for (const block of left) handOver(block);
    },
    /** Hands the whole text of a message over, unless it was sent. */
    sendWhole(text: string): void {
      if (text === last || sends.hasSent(text)) return;
      last = text;
      send(directives.push(text, true));
    },
    /** Hands over what a directive held back that was never closed. */
    sendRest(): void {
      send(directives.push('', true));
    },
    /** Hands over what a model thought. */
    sendReasoning(text: string): void {
      emitter.callLater('onBlockReply', { text, isReasoning: true });
    },
    /** Nothing more of this message is handed over. */
    silence(): void {
      isSilenced = true;
    },
    endMessage,
    closeTags(): void {
      tags = noTags;
    },
  };
}

function blockReply(read: DirectedText): BlockReply {
  return {
    text: read.text,
    ...(read.mediaUrls.length > 0 && { mediaUrls: read.mediaUrls }),
    ...(read.audioAsVoice && { audioAsVoice: true }),
    ...definedFields({ replyToId: read.replyToId }),
    replyToTag: read.replyToTag,
    replyToCurrent: read.replyToCurrent,
  };
}
