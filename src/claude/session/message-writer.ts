import {
  type AssistantContent,
  type AssistantMessage,
  type AssistantMessageEvent,
  type SessionEvent,
  type StopReason,
  textOf,
} from '@sluice/sdk/stream';
import { definedFields } from 'sluice-kernel/internal';
import { type CsdkBlock, type CsdkFrame, textField } from '../frames/frame.js';
import { type ToolAnswer, toolAnswer } from '../frames/tool-answer.js';
import { sessionUsage } from '../frames/usage.js';
import {
  argumentsOf,
  blockKind,
  isSpeech,
  type OpenBlock,
  openBlock,
  type SpeechBlock,
  wholeText,
} from '../messages/block.js';
import type { Failure, MessageWriter } from '../messages/message-reader.js';
import type { OpenMessage } from '../messages/open-message.js';
import { providerErrorOf } from './provider-error.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import type { KnownCall } from './tool-calls.js';

/** Hears the facts of a message that other parts of the lane write. */
interface MessageSink {
  emit(event: SessionEvent): void;
  report(fact: DiagnosticFact): void;
  /** A call is whole. @param isLate its message has ended. */
  call(id: string, call: KnownCall, isLate: boolean): void;
  /** A tool of the model's provider has answered. */
  answer(answer: ToolAnswer): void;
  compaction(phase: 'start' | 'end'): void;
  /** A `message_end` was emitted. */
  messageEnded(): void;
}

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'toolUse'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'error'],
]);

/** Writes the session events of the main lane's messages: each text is emitted once (csdk §3). */
export class SessionMessageWriter implements MessageWriter {
  readonly takesUnnamed = false;
  /** The messages that have ended. */
  readonly messages: AssistantMessage[] = [];
  readonly #sink: MessageSink;
  /** Live: it grows, and every event of the message refers to it. */
  #message: { -readonly [K in keyof AssistantMessage]: AssistantMessage[K] };
  /** The content of the message so far. */
  #content: AssistantContent[] = [];
  /** The place of each block in the content, by its number. */
  #slots = new Map<number, number>();

  constructor(sink: MessageSink) {
    this.#sink = sink;
    this.#message = { role: 'assistant', content: this.#content };
  }

  /** The failure that the last message told; nothing if it ended well. */
  get lastError(): string | undefined {
    const last = this.messages.at(-1);
    if (last?.stopReason !== 'error') return undefined;
    return last.errorMessage ?? textOf(last);
  }

  opened({ model }: OpenMessage, frame: CsdkFrame | undefined): void {
    this.#content = [];
    this.#slots = new Map();
    this.#message = { role: 'assistant', content: this.#content, provider: 'anthropic' };
    if (model !== undefined) this.#message.model = model;
    const providerError = frame && providerErrorOf(frame);
    if (providerError !== undefined) this.#message.providerError = providerError;
    this.#sink.emit({ type: 'message_start', message: this.#message });
  }

  blockOpened(_message: OpenMessage, block: OpenBlock): void {
    const content = this.#slots.has(block.contentIndex) ? undefined : liveContent(block);
    if (content !== undefined) this.#slots.set(block.contentIndex, this.#content.push(content) - 1);
    if (block.kind === 'compaction') this.#sink.compaction('start');
    if (block.kind === 'text' && block.isStreamed) this.#begin(block);
  }

  grew(_message: OpenMessage, block: SpeechBlock, delta: string): void {
    this.#begin(block);
    this.#update({
      type: block.kind === 'text' ? 'text_delta' : 'thinking_delta',
      contentIndex: block.contentIndex,
      delta,
      partial: this.#message,
    });
  }

  blockEnded(_message: OpenMessage, block: OpenBlock): void {
    this.#settle(block);
    if (block.kind === 'text' || block.kind === 'thinking') this.#endSpeech(block);
    else if (block.kind === 'call')
      this.#sink.call(block.id, { name: block.name, args: argumentsOf(block) ?? {} }, false);
    else if (block.kind === 'serverResult') this.#sink.answer(toolAnswer(block.raw));
    else if (block.kind === 'compaction') this.#sink.compaction('end');
  }

  /** In a message that streams, text that matches no streamed block is a repetition. */
  isNew(message: OpenMessage, raw: CsdkBlock): boolean {
    const kind = blockKind(raw);
    const isRepeated =
      isSpeech(kind) && message.blocks.some((block) => block.isStreamed && block.kind === kind);
    if (message.isStopped || isRepeated) this.late(message.id, raw);
    return !message.isStopped && !isRepeated;
  }

  whole(message: OpenMessage, block: OpenBlock, raw: CsdkBlock): void {
    if (message.isStopped) {
      this.late(message.id, raw);
      return;
    }
    if (block.kind === 'text' || block.kind === 'thinking') this.#reconcile(message, block);
    if (block.closed) this.#settle(block);
    else this.#end(message, block);
  }

  stopped(message: OpenMessage, failure?: Failure): void {
    // A call that was cut off is not announced: it will not run.
    for (const block of message.blocks)
      if (block.closed) this.#settle(block);
      else if (block.kind !== 'call' || failure?.reason !== 'aborted') this.#end(message, block);
    const ended = this.#message;
    const hasCalls = this.#content.some(({ type }) => type === 'toolCall');
    const told = message.stopReason ?? (hasCalls ? 'tool_use' : 'end_turn');
    ended.stopReason = failure?.reason ?? stopReasons.get(told) ?? 'stop';
    const usage = sessionUsage(message.usage);
    if (usage !== undefined && usage.totalTokens > 0) ended.usage = usage;
    if (failure?.code !== undefined) ended.errorMessage = textOf(ended) || failure.code;
    this.#sink.emit({ type: 'message_end', message: ended });
    this.messages.push(ended);
    this.#sink.messageEnded();
  }

  /** A message that streams was cut off. One that is assembled is whole. */
  displaced(message: OpenMessage): void {
    if (!message.isStopped)
      this.stopped(message, message.isStreamed ? { reason: 'aborted' } : undefined);
  }

  latePiece(messageId: string, block: SpeechBlock['kind'], { length: chars }: string): void {
    if (chars > 0) this.#sink.report({ kind: 'late_text', messageId, block, chars });
  }

  /** The text of a late block was shown. Its call may be new. */
  late(messageId: string, raw: CsdkBlock): void {
    const block = openBlock(raw, 0, false);
    if (block.kind === 'call')
      this.#sink.call(block.id, { name: textField(raw, 'name'), args: block.input }, true);
    else if (block.kind === 'serverResult') this.#sink.answer(toolAnswer(raw));
    else if (block.kind === 'text' || block.kind === 'thinking')
      this.latePiece(messageId, block.kind, textField(raw, block.kind) ?? '');
  }

  #end(message: OpenMessage, block: OpenBlock): void {
    block.closed = true;
    this.blockEnded(message, block);
  }

  /** The missing text comes as a delta. Nothing that was shown is taken back (csdk §3.6). */
  #reconcile(message: OpenMessage, block: SpeechBlock): void {
    const streamed = block.grown;
    const whole = block.whole ?? '';
    if (!block.closed && whole.startsWith(streamed)) {
      const delta = whole.slice(streamed.length);
      block.grown += delta;
      if (delta !== '') this.grew(message, block, delta);
    } else if (whole !== streamed)
      this.#sink.report({
        kind: 'diverging_text',
        messageId: message.id,
        contentIndex: block.contentIndex,
        streamedChars: streamed.length,
        completeChars: whole.length,
      });
  }

  /** Puts the content of a block into the message as plain data, unless it still grows. */
  #settle(block: OpenBlock): void {
    if (block.kind === 'text' && !block.passage.isSealed) return;
    const slot = this.#slots.get(block.contentIndex);
    const content = finalContent(block);
    if (slot !== undefined && content !== undefined) this.#content[slot] = content;
  }

  #begin({ kind, passage, contentIndex }: SpeechBlock): void {
    if (passage.hasBegun) return;
    passage.hasBegun = true;
    const type = kind === 'text' ? 'text_start' : 'thinking_start';
    this.#update({ type, contentIndex, partial: this.#message });
  }

  #endSpeech(block: SpeechBlock): void {
    const { kind, passage, contentIndex } = block;
    const { blocks, isSealed, hasBegun } = passage;
    if (!isSealed || !hasBegun || blocks.at(-1) !== block) return;
    const type = kind === 'text' ? 'text_end' : 'thinking_end';
    const content = blocks.map(({ grown }) => grown).join('');
    this.#update({ type, contentIndex, content, partial: this.#message });
  }

  #update(assistantMessageEvent: AssistantMessageEvent): void {
    this.#sink.emit({ type: 'message_update', message: this.#message, assistantMessageEvent });
  }
}

/** The content of a block that still grows: its text is put together when it is read. Nothing for others. */
function liveContent(block: OpenBlock): AssistantContent | undefined {
  if (block.kind === 'text')
    return {
      type: 'text',
      get text() {
        return wholeText(block.passage);
      },
    };
  if (block.kind === 'thinking')
    return {
      type: 'thinking',
      get thinking() {
        return block.grown;
      },
    };
  return finalContent(block);
}

/** The content of a block that is whole, as plain data. Nothing for a block that session messages cannot hold. */
function finalContent(block: OpenBlock): AssistantContent | undefined {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: wholeText(block.passage) };
    case 'thinking': {
      const { whole, grown, signature, redacted } = block;
      const more = definedFields({ thinkingSignature: signature });
      const thinking = whole ?? grown;
      return { type: 'thinking', thinking, ...more, ...(redacted && { redacted }) };
    }
    case 'call': {
      const { id, name, byServer } = block;
      if (byServer) return undefined;
      return { type: 'toolCall', id, name, arguments: argumentsOf(block) ?? {} };
    }
    default:
      return undefined;
  }
}
