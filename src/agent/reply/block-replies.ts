import { definedFields } from '../../kernel/index.js';
import { BlockChunker } from './block-chunker.js';
import type { BlockReply } from './emit/reply-payload.js';
import type { ReplyScope } from './reply-scope.js';
import { DirectiveQueue } from './text/directives/directive-queue.js';
import type { DirectedText } from './text/directives/read-directives.js';
import { noTags, stripTags, type TagState } from './text/strip-tags.js';

/** Hands the finished pieces of a run's messages over, each text once. */
export class BlockReplies {
  readonly #with: ReplyScope;
  readonly #finalOnly: boolean;
  readonly #chunker: BlockChunker | undefined;
  readonly #isCutAsItComes: boolean;
  readonly #directives = new DirectiveQueue();
  /** The text that waits to be handed over, if texts are not cut. */
  #pending = '';
  #tags: TagState = noTags;
  #last: string | undefined;
  #isSilenced = false;

  constructor(scope: ReplyScope) {
    const { options, emitter } = scope;
    const { blockReplyChunking, blockReplyBreak = 'text_end', enforceFinalTag } = options;
    this.#with = scope;
    this.#finalOnly = enforceFinalTag === true;
    if (blockReplyChunking !== undefined) this.#chunker = new BlockChunker(blockReplyChunking);
    this.#isCutAsItComes = blockReplyBreak === 'text_end' && emitter.has('onBlockReply');
  }

  /** A host wants block replies. */
  get isWanted(): boolean {
    return this.#with.emitter.has('onBlockReply');
  }

  /** Some of the text waits to be cut. */
  get isCutting(): boolean {
    return this.#chunker?.isEmpty === false;
  }

  /** Some of the text was not handed over yet. */
  get isPending(): boolean {
    return this.#chunker === undefined ? this.#pending !== '' : !this.#chunker.isEmpty;
  }

  startMessage(): void {
    this.#directives.clear();
    this.#last = undefined;
    this.#isSilenced = false;
    this.endMessage();
  }

  append(text: string): void {
    if (this.#chunker === undefined) this.#pending += text;
    else this.#chunker.append(text);
  }

  /** Hands over what can be cut off by now. */
  cut(): void {
    if (this.#chunker === undefined || !this.#isCutAsItComes) return;
    for (const block of this.#chunker.drain(false)) this.#handOver(block);
  }

  /** Hands over all that is left. */
  flush(): void {
    if (!this.isWanted) return;
    if (this.#chunker !== undefined) {
      for (const block of this.#chunker.drain(true)) this.#handOver(block);
    } else if (this.#pending !== '') {
      const text = this.#pending;
      this.#pending = '';
      this.#handOver(text);
    }
  }

  /** Hands the whole text of a message over, unless it was sent. */
  sendWhole(text: string): void {
    if (text === this.#last || this.#with.sends.hasSent(text)) return;
    this.#last = text;
    this.#send(this.#directives.push(text, true));
  }

  /** Hands over what a directive held back that was never closed. */
  sendRest(): void {
    this.#send(this.#directives.push('', true));
  }

  /** Hands over what a model thought. */
  sendReasoning(text: string): void {
    this.#with.emitter.callLater('onBlockReply', { text, isReasoning: true });
  }

  /** Nothing more of this message is handed over. */
  silence(): void {
    this.#isSilenced = true;
  }

  endMessage(): void {
    this.#pending = '';
    this.#chunker?.clear();
    this.closeTags();
  }

  /** Forgets the open tags: their message, or the run, is over. */
  closeTags(): void {
    this.#tags = noTags;
  }

  #handOver(block: string): void {
    if (this.#isSilenced) return;
    const read = stripTags(block, this.#tags, this.#finalOnly);
    this.#tags = read.state;
    const text = read.text.trimEnd();
    if (text === '' || text === this.#last) return;
    const { sends, texts } = this.#with;
    if (sends.hasSent(text) || texts.isRepeat(text)) return;
    this.#last = text;
    texts.add(text);
    if (this.isWanted) this.#send(this.#directives.push(text));
  }

  #send(read: DirectedText | undefined): void {
    if (read === undefined) return;
    this.#with.emitter.callLater('onBlockReply', blockReply(read));
  }
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
