import type {
  AssistantMessage,
  AssistantMessageEvent,
  ProviderError,
  SessionEvent,
  StopReason,
} from '../../stream/index.js';
import { type CsdkBlock, type CsdkMessage, isFields, textField } from '../frames/frame.js';
import { countedFields, sessionUsage } from '../frames/usage.js';
import { MessageContent } from './message-content.js';
import { blockKind, type CallBlock, type OpenBlock, type SpeechBlock } from './open-block.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import type { KnownCall } from './tool-calls.js';

type Fields = Readonly<Record<string, unknown>>;

/** Where a message tells what it finds. */
export interface MessageSink {
  emit(event: SessionEvent): void;
  /** A call is whole. */
  call(block: CallBlock): void;
  /** A tool of the model's provider has answered. */
  serverResult(raw: CsdkBlock): void;
  compaction(phase: 'start' | 'end'): void;
  tell(fact: DiagnosticFact): void;
}

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'toolUse'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'error'],
]);

/**
 * One API message of the main lane while it grows, from deltas, from complete frames, or from both: every text is
 * emitted once (csdk §3).
 */
export class OpenMessage {
  readonly id: string;
  /** Live: it grows, and every event of the message refers to it. */
  readonly message: { -readonly [K in keyof AssistantMessage]: AssistantMessage[K] };
  readonly #sink: MessageSink;
  readonly #content = new MessageContent();
  readonly #usage: Record<string, number> = {};
  #stopReason: StopReason | undefined;

  constructor(start: CsdkMessage, sink: MessageSink, providerError?: ProviderError) {
    this.id = start.id;
    this.#sink = sink;
    this.message = { role: 'assistant', content: this.#content.list, provider: 'anthropic' };
    if (start.model !== undefined) this.message.model = start.model;
    if (providerError !== undefined) this.message.providerError = providerError;
    this.uses(start.usage);
    sink.emit({ type: 'message_start', message: this.message });
  }

  /** A call that it holds, or has begun to hold. */
  callOf(id: string): KnownCall | undefined {
    return this.#content.callOf(id);
  }

  /** A block begins to stream. */
  blockStart(index: number, raw: CsdkBlock): void {
    if (this.#content.streamed(index) !== undefined) return;
    const block = this.#content.addStreamed(index, raw);
    if (block.kind === 'compaction') this.#sink.compaction('start');
    if (block.kind === 'text') this.#begin(block);
    if (block.kind === 'text' || block.kind === 'thinking')
      this.#grow(block, textField(raw, block.kind) ?? '');
  }

  /** A block grows. One whose start never came begins now. */
  blockDelta(index: number, delta: CsdkBlock): void {
    switch (delta.type) {
      case 'text_delta':
        this.#speech(index, 'text', textField(delta, 'text') ?? '');
        return;
      case 'thinking_delta':
        this.#speech(index, 'thinking', textField(delta, 'thinking') ?? '');
        return;
      case 'input_json_delta': {
        const block = this.#content.streamed(index);
        const piece = textField(delta, 'partial_json') ?? '';
        if (block?.kind === 'call' && !block.closed) block.json.append(piece);
        return;
      }
      case 'signature_delta': {
        const block = this.#content.streamed(index);
        if (block?.kind === 'thinking') this.#sign(block, textField(delta, 'signature'));
        return;
      }
      default: // citations, compaction summaries, and what is yet to come
    }
  }

  /** A block has streamed to its end. */
  blockStop(index: number): void {
    const block = this.#content.streamed(index);
    if (block !== undefined) this.#close(block);
  }

  /** A complete block, from an assistant frame. In a message that streams, text that matches none is a repetition. */
  complete(raw: CsdkBlock): void {
    const matched = this.#content.confirm(raw);
    const kind = blockKind(raw);
    if (matched === undefined && this.#content.hasStreamed(kind)) {
      if (kind === 'text' || kind === 'thinking') {
        this.#tellLate(kind, textField(raw, kind) ?? '');
        return;
      }
    }
    const block = matched ?? this.#content.addComplete(raw);
    if (block.kind === 'compaction' && matched === undefined) this.#sink.compaction('start');
    if (block.kind === 'text' || block.kind === 'thinking') this.#reconcile(block, raw);
    else if (block.kind !== 'call') block.raw = raw;
    else if (isFields(raw.input)) {
      block.input = raw.input;
      block.json.clear();
    }
    if (block.closed) this.#content.settle(block);
    else this.#close(block);
  }

  stopsFor(reason: string | undefined): void {
    if (reason !== undefined) this.#stopReason = stopReasons.get(reason) ?? 'stop';
  }

  /** Later counts of a message replace earlier ones; a null says nothing. */
  uses(usage: Fields | undefined): void {
    if (usage === undefined) return;
    for (const field of countedFields)
      if (typeof usage[field] === 'number') this.#usage[field] = usage[field];
  }

  /** Ends the message. A call that was cut off is not announced: it will not run. */
  end(reason?: StopReason, errorMessage?: string): AssistantMessage {
    for (const block of this.#content.blocks)
      if (block.kind !== 'call' || reason !== 'aborted') this.#close(block);
    const calls = this.#content.list.some(({ type }) => type === 'toolCall');
    this.message.stopReason = reason ?? this.#stopReason ?? (calls ? 'toolUse' : 'stop');
    const usage = sessionUsage(this.#usage);
    if (usage !== undefined && usage.totalTokens > 0) this.message.usage = usage;
    if (errorMessage !== undefined) this.message.errorMessage = errorMessage;
    this.#sink.emit({ type: 'message_end', message: this.message });
    return this.message;
  }

  #speech(index: number, kind: SpeechBlock['kind'], delta: string): void {
    if (this.#content.streamed(index) === undefined) this.blockStart(index, { type: kind });
    const block = this.#content.streamed(index);
    if (block?.kind === kind && !block.closed) this.#grow(block, delta);
    else this.#tellLate(kind, delta);
  }

  /** What is missing comes as a delta; what was shown is never taken back (csdk §3.6). */
  #reconcile(block: SpeechBlock, raw: CsdkBlock): void {
    const complete = textField(raw, block.kind) ?? '';
    const streamed = block.grown.read();
    if (!block.closed && complete.startsWith(streamed))
      this.#grow(block, complete.slice(streamed.length));
    else if (complete !== streamed) {
      block.truth = complete;
      this.#sink.tell({
        kind: 'diverging_text',
        messageId: this.id,
        contentIndex: block.contentIndex,
        streamedChars: streamed.length,
        completeChars: complete.length,
      });
    }
    if (block.kind === 'thinking') this.#sign(block, textField(raw, 'signature'));
  }

  /** Keeps a signature, byte for byte. */
  #sign(block: SpeechBlock, signature: string | undefined): void {
    if (signature === undefined || signature === '') return;
    block.signature = signature;
    if (block.closed) this.#content.settle(block);
  }

  #begin(block: SpeechBlock): void {
    if (block.started) return;
    block.started = true;
    this.#update({
      type: block.kind === 'text' ? 'text_start' : 'thinking_start',
      contentIndex: block.contentIndex,
      partial: this.message,
    });
  }

  #grow(block: SpeechBlock, delta: string): void {
    if (delta === '') return;
    this.#begin(block);
    block.grown.append(delta);
    this.#update({
      type: block.kind === 'text' ? 'text_delta' : 'thinking_delta',
      contentIndex: block.contentIndex,
      delta,
      partial: this.message,
    });
  }

  #close(block: OpenBlock): void {
    if (block.closed) return;
    block.closed = true;
    this.#content.settle(block);
    if (block.kind === 'text' || block.kind === 'thinking') this.#endSpeech(block);
    else if (block.kind === 'call') this.#sink.call(block);
    else if (block.kind === 'serverResult') this.#sink.serverResult(block.raw);
    else if (block.kind === 'compaction') this.#sink.compaction('end');
  }

  #endSpeech(block: SpeechBlock): void {
    if (!block.started) return;
    this.#update({
      type: block.kind === 'text' ? 'text_end' : 'thinking_end',
      contentIndex: block.contentIndex,
      content: block.grown.read(),
      partial: this.message,
    });
  }

  #tellLate(block: SpeechBlock['kind'], text: string): void {
    if (text !== '')
      this.#sink.tell({ kind: 'late_text', messageId: this.id, block, chars: text.length });
  }

  #update(assistantMessageEvent: AssistantMessageEvent): void {
    this.#sink.emit({ type: 'message_update', message: this.message, assistantMessageEvent });
  }
}
