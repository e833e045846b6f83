import { grownBy, Recent } from '@sluice/sdk/stream/internal';
import {
  blockIndex,
  type CsdkBlock,
  type CsdkFrame,
  type CsdkMessage,
  type CsdkStreamEvent,
  isFields,
  isTyped,
  messageOf,
  textField,
} from '../frames/frame.js';
import { blockKind, type OpenBlock, type SpeechBlock } from './block.js';
import { OpenMessage } from './open-message.js';

/** The end of a message that did not end well. `code`: the error that the SDK names. */
export interface Failure {
  readonly reason: 'error' | 'aborted';
  readonly code?: string;
}

/** Hears the facts of the main lane's messages, in the order of the frames. */
export interface MessageWriter {
  /**
   * Raw events without a `message_start`, or without an id, make a message, and its first complete frame names it. If
   * not, text without a start is late.
   */
  readonly takesUnnamed: boolean;
  /** A message has its first content. @param frame the complete frame that opened it. */
  opened(message: OpenMessage, frame?: CsdkFrame): void;
  blockOpened(message: OpenMessage, block: OpenBlock): void;
  /** A piece was added to the text of a block. */
  grew(message: OpenMessage, block: SpeechBlock, piece: string): void;
  /** A block has streamed to its end; or the text that it is the last block of is sealed, and it has ended before. */
  blockEnded(message: OpenMessage, block: OpenBlock): void;
  /**
   * A complete block of a message that no streamed block matches.
   *
   * @returns true if it is a new block, false if it is a repetition.
   */
  isNew(message: OpenMessage, raw: CsdkBlock): boolean;
  /** The complete frame of a block. `block.closed` says if the block has ended before. */
  whole(message: OpenMessage, block: OpenBlock, raw: CsdkBlock): void;
  /** The message has ended in its stream, or by `stop`. */
  stopped(message: OpenMessage, failure?: Failure): void;
  /** Something else takes the place of the message. */
  displaced(message: OpenMessage): void;
  /** A piece that came after the end of its block or message. */
  latePiece(messageId: string, kind: SpeechBlock['kind'], piece: string): void;
  /** A complete block of a message that was displaced. */
  late(messageId: string, raw: CsdkBlock): void;
}

/**
 * Reads the messages of the main lane from raw events, from complete frames, or from both (csdk §2, §3; C6, C7). One
 * message is open at a time, and none opens twice.
 */
export class MessageReader {
  readonly #writer: MessageWriter;
  /** The ids of messages that were displaced. */
  readonly #over: Recent<string, true>;
  /** A `message_start` came. Nothing is told: an attempt may be given up before it has content. */
  #announced: CsdkMessage | undefined;
  #last: OpenMessage | undefined;
  /** The raw events belong to a message that is over. */
  #dropsEvents = false;

  /** @param remembered the number of ids of past messages that are kept. */
  constructor(writer: MessageWriter, remembered: number) {
    this.#writer = writer;
    this.#over = new Recent(remembered);
  }

  /** The message that has not ended. */
  get open(): OpenMessage | undefined {
    return this.#last?.isStopped === true ? undefined : this.#last;
  }

  /** A message is open or announced. */
  get isOpen(): boolean {
    return this.open !== undefined || this.#announced !== undefined;
  }

  /** Reads a raw event of the Messages API. */
  event(event: CsdkStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#start(messageOf(event.message) ?? unnamed);
        return;
      case 'content_block_delta':
        if (isTyped(event.delta)) this.#delta(blockIndex(event), event.delta);
        return;
      case 'content_block_start': {
        const message = isTyped(event.content_block) ? this.#streaming(true) : undefined;
        if (message !== undefined && isTyped(event.content_block))
          this.#blockStart(message, blockIndex(event), event.content_block);
        return;
      }
      case 'content_block_stop': {
        const message = this.#streaming(false);
        const block = message?.streamed(blockIndex(event));
        if (message === undefined || block === undefined || block.closed) return;
        block.closed = true;
        this.#writer.blockEnded(message, block);
        return;
      }
      case 'message_delta': {
        const message = this.#streaming(false);
        if (isFields(event.delta)) message?.stopsFor(textField(event.delta, 'stop_reason'));
        if (isFields(event.usage)) message?.uses(event.usage);
        return;
      }
      case 'message_stop':
        if (this.#streaming(false) !== undefined) this.stop();
        return;
      default: // ping, and the events of later versions
    }
  }

  /**
   * Reads a complete message of the model: one block of it, or all.
   *
   * @returns the message, unless it is over.
   */
  complete(message: CsdkMessage, frame?: CsdkFrame): OpenMessage | undefined {
    if (this.#over.has(message.id)) {
      for (const raw of message.content) this.#writer.late(message.id, raw);
      return undefined;
    }
    const open = this.#continued(message, frame);
    for (const raw of message.content) this.#completeBlock(open, raw);
    open.stopsFor(message.stopReason);
    open.uses(message.usage);
    return open;
  }

  /** Something else than text comes: no further block joins the text, unless it still grows. */
  endText(): void {
    if (this.open?.text?.blocks.at(-1)?.closed === true) this.#seal(this.open);
  }

  /** Ends the message that is open. */
  stop(failure?: Failure): void {
    const { open } = this;
    if (open === undefined) return;
    this.#seal(open);
    open.isStopped = true;
    this.#writer.stopped(open, failure);
  }

  /** Something else takes the place of the message. An announced one never was. */
  displace(): void {
    const last = this.#last;
    this.#announced = undefined;
    this.#last = undefined;
    if (last === undefined) return;
    this.#seal(last);
    if (last.id !== '') this.#over.set(last.id, true);
    this.#writer.displaced(last);
  }

  /** A `message_start` for the message that is open says nothing new. One for an old id opens nothing. */
  #start(message: CsdkMessage): void {
    const isRepeated = message.id !== '' && this.#last?.id === message.id;
    this.#dropsEvents = isRepeated ? this.#last?.isStreamed !== true : this.#over.has(message.id);
    if (isRepeated || this.#dropsEvents) return;
    this.displace();
    this.#announced = message;
  }

  /** The message that raw events belong to. @param mayOpen the event could begin one without a `message_start`. */
  #streaming(mayOpen: boolean): OpenMessage | undefined {
    if (this.#dropsEvents) return undefined;
    if (this.#announced !== undefined) return this.#opened(this.#announced, true);
    if (this.#last?.isStreamed === true) return this.open;
    if (!mayOpen || !this.#writer.takesUnnamed) return undefined;
    this.displace();
    return this.#opened(unnamed, true);
  }

  #opened(start: CsdkMessage, isStreamed: boolean, frame?: CsdkFrame): OpenMessage {
    this.#announced = undefined;
    this.#last = new OpenMessage(start, isStreamed);
    this.#writer.opened(this.#last, frame);
    return this.#last;
  }

  /** The message that a complete frame belongs to, opened now if it is a new one. */
  #continued(message: CsdkMessage, frame: CsdkFrame | undefined): OpenMessage {
    const { id } = message;
    const { takesUnnamed } = this.#writer;
    const announced = this.#announced;
    if (announced?.id === id || (takesUnnamed && announced?.id === ''))
      return this.#opened({ ...announced, id }, true, frame);
    const last = this.#last;
    const isUnnamed = takesUnnamed && last?.isStreamed === true && last.id === '';
    if (last !== undefined && (isUnnamed || (last.id === id && id !== ''))) {
      last.id = id;
      return last;
    }
    this.displace();
    return this.#opened(message, false, frame);
  }

  #seal(message: OpenMessage): void {
    const { text } = message;
    if (text === undefined) return;
    text.isSealed = true;
    message.text = undefined;
    const last = text.blocks.at(-1);
    if (last?.closed === true) this.#writer.blockEnded(message, last);
  }

  #blockStart(message: OpenMessage, index: number, raw: CsdkBlock): void {
    if (message.streamed(index) !== undefined) return;
    if (blockKind(raw) !== 'text') this.#seal(message);
    const block = message.addStreamed(index, raw);
    this.#writer.blockOpened(message, block);
    if (block.kind === 'text' || block.kind === 'thinking')
      this.#grow(message, block, textField(raw, block.kind) ?? '');
  }

  #grow(message: OpenMessage, block: SpeechBlock, piece: string): void {
    if (piece === '') return;
    block.grown = grownBy(block.grown, piece);
    this.#writer.grew(message, block, piece);
  }

  #delta(index: number, delta: CsdkBlock): void {
    const message = this.#streaming(true);
    if (delta.type === 'text_delta') this.#piece(message, index, 'text', delta);
    else if (delta.type === 'thinking_delta') this.#piece(message, index, 'thinking', delta);
    else if (message === undefined) return;
    else if (delta.type === 'input_json_delta') {
      const block = message.streamed(index);
      const piece = textField(delta, 'partial_json') ?? '';
      if (block?.kind === 'call' && !block.closed) block.json = grownBy(block.json, piece);
    } else if (delta.type === 'signature_delta') {
      const block = message.streamed(index);
      if (block?.kind === 'thinking')
        block.signature = textField(delta, 'signature') || block.signature;
    } // else citations, compaction summaries, and the deltas of later versions
  }

  /** A block whose start never came begins now. */
  #piece(
    message: OpenMessage | undefined,
    index: number,
    kind: SpeechBlock['kind'],
    delta: CsdkBlock,
  ): void {
    const piece = textField(delta, kind) ?? '';
    if (message === undefined) {
      this.#writer.latePiece('', kind, piece);
      return;
    }
    if (message.streamed(index) === undefined) this.#blockStart(message, index, { type: kind });
    const block = message.streamed(index);
    if (block?.kind === kind && !block.closed) this.#grow(message, block, piece);
    else this.#writer.latePiece(message.id, kind, piece);
  }

  #completeBlock(message: OpenMessage, raw: CsdkBlock): void {
    let block = message.confirm(raw);
    if (block === undefined) {
      if (!this.#writer.isNew(message, raw)) return;
      if (blockKind(raw) !== 'text') this.#seal(message);
      block = message.addComplete(raw);
      this.#writer.blockOpened(message, block);
    }
    if (block.kind === 'call') {
      if (isFields(raw.input)) {
        block.input = raw.input;
        block.json = '';
      }
    } else if (block.kind === 'text' || block.kind === 'thinking') {
      block.whole = textField(raw, block.kind) ?? '';
      block.signature = textField(raw, 'signature') || block.signature;
    } else block.raw = raw;
    this.#writer.whole(message, block, raw);
  }
}

const unnamed: CsdkMessage = {
  id: '',
  model: undefined,
  content: [],
  stopReason: undefined,
  usage: undefined,
};
