import { type CsdkBlock, textField } from '../frames/frame.js';
import { type ToolAnswer, toolAnswer } from '../frames/tool-answer.js';
import { argumentsOf, blockKind, type OpenBlock, type SpeechBlock } from '../messages/block.js';
import type { MessageWriter } from '../messages/message-reader.js';
import type { OpenMessage } from '../messages/open-message.js';
import type { CoderBody } from './blocks/coder-event.js';

/** Hears the facts of a message that the main thread tells. */
export interface MessageTells {
  readonly emit: (body: CoderBody) => void;
  /** A tool call whose arguments are complete. */
  readonly call: (id: string, name: string, args: unknown) => void;
  /** A tool of the model's provider has answered. */
  readonly answer: (answer: ToolAnswer) => void;
}

/**
 * Writes the coder events of the main thread's messages: of each text the pieces once, and the whole once (C6, C7).
 * The whole is the text of the complete frame. If none has come, it is the streamed text as soon as something follows.
 */
export class CoderMessageWriter implements MessageWriter {
  readonly takesUnnamed = true;
  readonly #tells: MessageTells;
  #message: OpenMessage | undefined;
  /** The text that was told as whole, of each block of the message. */
  #told = new Map<OpenBlock, string>();

  constructor(tells: MessageTells) {
    this.#tells = tells;
  }

  /** Tells as whole what was streamed and has had no complete frame. */
  settle(): void {
    for (const block of this.#message?.blocks ?? [])
      if (this.#isPending(block)) this.#complete(block, block.grown.read());
  }

  /** A call that streams here has its answer already: it is told with its arguments as far as they are known. */
  callNow(callId: string): void {
    const block = this.#message?.call(callId);
    if (block === undefined) return;
    block.closed = true;
    const args = block.json.length === 0 ? undefined : argumentsOf(block);
    this.#tells.call(callId, block.name, args);
  }

  opened(message: OpenMessage): void {
    this.#message = message;
    this.#told = new Map();
  }

  blockOpened(_message: OpenMessage, block: OpenBlock): void {
    if (block.isStreamed) this.settle();
  }

  grew(_message: OpenMessage, { kind }: SpeechBlock, piece: string): void {
    if (kind === 'text')
      this.#tells.emit({ type: 'message', role: 'assistant', delta: true, text: piece });
    else this.#tells.emit({ type: 'progress', label: 'thinking', detail: piece });
  }

  blockEnded(_message: OpenMessage, block: OpenBlock): void {
    const args = block.kind === 'call' ? argumentsOf(block) : undefined;
    if (block.kind === 'call' && args !== undefined) this.#tells.call(block.id, block.name, args);
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
    if (block.kind === 'text' || block.kind === 'thinking') this.#whole(message, block);
    else this.late(message.id, raw);
    block.closed = true;
  }

  /** Nothing: the complete frames of the message may still come. */
  stopped(): void {}

  /** The pieces of a broken attempt are given up. */
  displaced(message: OpenMessage): void {
    const isHalfTold = message.blocks.some((block) => this.#isPending(block));
    if (message.isStreamed && !message.isStopped && isHalfTold)
      this.#tells.emit({
        type: 'progress',
        label: 'retry',
        detail: 'what was streamed since the last whole message was given up',
      });
    else this.settle();
    this.#message = undefined;
  }

  /** Nothing: late text was told, or given up. */
  latePiece(): void {}

  late(_messageId: string, raw: CsdkBlock): void {
    const kind = blockKind(raw);
    if (kind !== 'call' && kind !== 'serverResult') return;
    this.settle();
    if (kind === 'serverResult') this.#tells.answer(toolAnswer(raw));
    else
      this.#tells.call(textField(raw, 'id') ?? '', textField(raw, 'name') ?? 'unknown', raw.input);
  }

  #whole(message: OpenMessage, block: SpeechBlock): void {
    const { grown, whole = '' } = block;
    const streamed = grown.read();
    const rest = whole.startsWith(streamed) ? whole.slice(streamed.length) : '';
    if (rest !== '') {
      grown.append(rest);
      this.grew(message, block, rest);
    }
    if (!this.#told.has(block)) this.#complete(block, whole);
    // It was told as whole before this frame came: what is missing is a whole of its own.
    else if (block.kind === 'text' && rest !== '')
      this.#tells.emit({ type: 'message', role: 'assistant', text: rest });
  }

  #complete(block: SpeechBlock, whole: string): void {
    this.#told.set(block, whole);
    block.closed = true;
    if (block.kind === 'text' && whole !== '')
      this.#tells.emit({ type: 'message', role: 'assistant', text: whole });
  }

  /** People saw pieces of a text that nothing has completed. */
  #isPending(block: OpenBlock): block is Extract<OpenBlock, { kind: 'text' }> {
    return block.kind === 'text' && !this.#told.has(block) && block.grown.length > 0;
  }
}
