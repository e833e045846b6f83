import { type CsdkBlock, textField } from '../frames/frame.js';
import { type ToolAnswer, toolAnswer } from '../frames/tool-answer.js';
import { argumentsOf, blockKind, type OpenBlock, type SpeechBlock } from '../messages/block.js';
import type { MessageWriter } from '../messages/message-reader.js';
import type { OpenMessage } from '../messages/open-message.js';
import type { CoderSink } from './coder-sink.js';

/** Hears the calls of the model. */
interface CallListener {
  /** Hears a tool call whose arguments are complete. */
  call(id: string, name: string, args: unknown): void;
  /** Hears a tool of the model's provider. */
  answered(answer: ToolAnswer): void;
}

/**
 * Writes the coder events of the main thread's messages: of each text the pieces once, and the whole once (C6, C7).
 * The whole is the text of the complete frame. If none has come, it is the streamed text as soon as something follows.
 */
export class CoderMessageWriter implements MessageWriter {
  readonly takesUnnamed = true;
  readonly #sink: CoderSink;
  readonly #listener: CallListener;
  #open: OpenMessage | undefined;
  /** The text that was told as whole, of each block of the message. */
  #told = new Map<OpenBlock, string>();
  /** Whole blocks of one text: blocks that nothing stands between are told together. */
  #whole: string[] = [];
  #item: unknown;

  constructor(sink: CoderSink, listener: CallListener) {
    this.#sink = sink;
    this.#listener = listener;
  }

  /** Tells as whole what was streamed, also what has had no complete frame. */
  settle(): void {
    this.#completeAll();
    this.reportWhole();
  }

  /** Tells the text whose blocks are whole: something else comes. */
  reportWhole(): void {
    const text = this.#whole.join('');
    this.#whole = [];
    if (text !== '') this.#sink.emitOf(this.#item, { type: 'message', role: 'assistant', text });
  }

  /** A call that streams here has its answer already: it is told with its arguments as far as they are known. */
  callNow(callId: string): void {
    const block = this.#open?.call(callId);
    if (block === undefined) return;
    block.closed = true;
    const args = block.json === '' ? undefined : argumentsOf(block);
    this.#listener.call(callId, block.name, args);
  }

  opened(message: OpenMessage): void {
    this.#open = message;
    this.#told = new Map();
  }

  blockOpened(_message: OpenMessage, block: OpenBlock): void {
    if (block.isStreamed) this.#completeAll();
    if (block.kind !== 'text') this.reportWhole();
  }

  grew(_message: OpenMessage, { kind }: SpeechBlock, text: string): void {
    if (kind === 'text') this.#sink.emit({ type: 'message', role: 'assistant', delta: true, text });
    else this.#sink.emit({ type: 'progress', label: 'thinking', detail: text });
  }

  blockEnded(_message: OpenMessage, block: OpenBlock): void {
    const args = block.kind === 'call' ? argumentsOf(block) : undefined;
    if (block.kind === 'call' && args !== undefined)
      this.#listener.call(block.id, block.name, args);
  }

  /** Text of a message that streams is a repetition if the same was told. */
  isNew(message: OpenMessage, raw: CsdkBlock): boolean {
    const kind = blockKind(raw);
    const text = textField(raw, kind) ?? '';
    return !message.blocks.some(
      (block) => message.isStreamed && block.kind === kind && this.#told.get(block) === text,
    );
  }

  whole(message: OpenMessage, block: OpenBlock, raw: CsdkBlock): void {
    if (block.kind === 'text' || block.kind === 'thinking') this.#wholeSpeech(message, block);
    else this.late(message.id, raw);
    block.closed = true;
  }

  /** Its texts are told, but for those whose complete frames may still come. */
  stopped(message: OpenMessage): void {
    if (message.isStopped && !this.#isHalfTold(message)) this.reportWhole();
  }

  /** The pieces of a broken attempt are given up. */
  displaced(message: OpenMessage): void {
    const isHalfTold = this.#isHalfTold(message);
    if (isHalfTold) this.reportWhole();
    const detail = 'what was streamed since the last whole message was given up';
    if (message.isStreamed && !message.isStopped && isHalfTold)
      this.#sink.emit({ type: 'progress', label: 'retry', detail });
    else this.settle();
    this.#open = undefined;
  }

  /** Nothing: late text was told, or given up. */
  latePiece(): void {}

  late(_messageId: string, raw: CsdkBlock): void {
    const kind = blockKind(raw);
    if (kind !== 'call' && kind !== 'serverResult') return;
    this.settle();
    if (kind === 'serverResult') this.#listener.answered(toolAnswer(raw));
    else
      this.#listener.call(
        textField(raw, 'id') ?? '',
        textField(raw, 'name') ?? 'unknown',
        raw.input,
      );
  }

  #completeAll(): void {
    for (const block of this.#open?.blocks ?? [])
      if (this.#isPending(block)) this.#complete(block, block.grown);
  }

  #wholeSpeech(message: OpenMessage, block: SpeechBlock): void {
    const { grown: streamed, whole: text = '' } = block;
    const rest = text.startsWith(streamed) ? text.slice(streamed.length) : '';
    if (rest !== '') {
      block.grown += rest;
      this.grew(message, block, rest);
    }
    // If it was told as whole before this frame came, what is missing is a whole of its own.
    this.#complete(block, text, this.#told.has(block) ? rest : text);
    this.stopped(message);
  }

  #complete(block: SpeechBlock, text: string, untold = text): void {
    this.#told.set(block, text);
    block.closed = true;
    if (block.kind !== 'text') return;
    this.#whole.push(untold);
    this.#item = this.#sink.current();
  }

  /** People saw pieces of a text that nothing has completed. */
  #isPending(block: OpenBlock): block is Extract<OpenBlock, { kind: 'text' }> {
    return block.kind === 'text' && !this.#told.has(block) && block.grown !== '';
  }

  #isHalfTold({ blocks }: OpenMessage): boolean {
    return blocks.some((block) => this.#isPending(block));
  }
}
