import type {
  AssistantContent,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
  SessionUsage,
  StopReason,
} from '../stream/index.js';
import {
  argumentsOf,
  type BlockContent,
  contentOf,
  sign,
  textOfBlock,
  type Writable,
} from './block-content.js';
import { type CsdkBlock, isFields, textField } from './frame.js';
import { sessionUsage } from './usage.js';

interface Block {
  /** Its place in the message's content. */
  readonly contentIndex: number;
  readonly content: BlockContent;
  /** Its first event was emitted. */
  started: boolean;
  /** Its last event was emitted: what comes later for it is dropped. */
  closed: boolean;
  /** A complete assistant frame has brought it. */
  snapshotted: boolean;
  /** The pieces of a tool call's arguments. */
  json: string;
}

/** Starts a tool, once per id; the normalizer knows which have started. */
type StartTool = (id: string, name: string, args: Readonly<Record<string, unknown>>) => void;

const stopReasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'toolUse',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'error',
};

/**
 * One API message of the main lane while it grows, from deltas, from complete frames, or from both: every text is
 * emitted once. Facts 3.2, rules R3 to R8.
 */
export class OpenMessage {
  readonly id: string;
  /** It comes as deltas; its complete frames then only confirm them. */
  readonly streamed: boolean;
  /** Live: it grows, and every event of the message refers to it. */
  readonly message: Writable<AssistantMessage>;
  readonly #content: AssistantContent[] = [];
  readonly #emit: (event: SessionEvent) => void;
  readonly #startTool: StartTool;
  readonly #blocks: Block[] = [];
  readonly #byStreamIndex = new Map<number, Block>();
  #usage: Readonly<Record<string, unknown>> = {};
  #stopReason: StopReason | undefined;

  constructor(
    start: { readonly id: string; readonly model: string | undefined; readonly streamed: boolean },
    emit: (event: SessionEvent) => void,
    startTool: StartTool,
  ) {
    this.id = start.id;
    this.streamed = start.streamed;
    this.#emit = emit;
    this.#startTool = startTool;
    this.message = {
      role: 'assistant',
      content: this.#content,
      provider: 'anthropic',
      ...(start.model !== undefined && { model: start.model }),
    };
    emit({ type: 'message_start', message: this.message });
  }

  blockStart(index: number, raw: CsdkBlock): void {
    const block = this.#add(raw);
    if (block === undefined) return;
    this.#byStreamIndex.set(index, block);
    if (block.content.type === 'text') this.#start(block);
  }

  blockDelta(index: number, delta: CsdkBlock): void {
    if (delta.type === 'text_delta') {
      const block = this.#streamed(index, { type: 'text', text: '' });
      this.#grow(block, textField(delta, 'text') ?? '');
    } else if (delta.type === 'thinking_delta') {
      const block = this.#streamed(index, { type: 'thinking', thinking: '' });
      this.#grow(block, textField(delta, 'thinking') ?? '');
    } else if (delta.type === 'signature_delta') {
      const block = this.#byStreamIndex.get(index);
      if (block?.content.type === 'thinking') sign(block.content, textField(delta, 'signature'));
    } else if (delta.type === 'input_json_delta') {
      const block = this.#byStreamIndex.get(index);
      if (block !== undefined) block.json += textField(delta, 'partial_json') ?? '';
    }
  }

  blockStop(index: number): void {
    const block = this.#byStreamIndex.get(index);
    if (block !== undefined) this.#close(block);
  }

  /** A complete block, from an assistant frame. */
  snapshot(raw: CsdkBlock): void {
    const block = this.#match(raw) ?? (this.#isNew(raw) ? this.#add(raw) : undefined);
    if (block === undefined) return; // the same again
    block.snapshotted = true;
    if (block.content.type === 'toolCall') {
      if (isFields(raw.input)) block.content.arguments = raw.input;
      block.json = '';
    } else {
      const whole = textField(raw, block.content.type === 'text' ? 'text' : 'thinking') ?? '';
      const sofar = textOfBlock(block.content);
      // What is missing comes as a delta; what was shown is never taken back (R6).
      if (whole.startsWith(sofar)) this.#grow(block, whole.slice(sofar.length));
      if (block.content.type === 'thinking') sign(block.content, textField(raw, 'signature'));
    }
    this.#close(block);
  }

  stopsFor(reason: string | undefined): void {
    if (reason !== undefined) this.#stopReason = stopReasons[reason] ?? 'stop';
  }

  uses(usage: Readonly<Record<string, unknown>> | undefined): void {
    const known = Object.entries(usage ?? {}).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  /** Ends the message. */
  end(reason?: StopReason, errorMessage?: string): AssistantMessage {
    for (const block of this.#blocks) this.#close(block);
    const calls = this.#content.some(({ type }) => type === 'toolCall');
    this.message.stopReason = reason ?? this.#stopReason ?? (calls ? 'toolUse' : 'stop');
    const usage: SessionUsage | undefined = sessionUsage(this.#usage);
    if (usage !== undefined && usage.totalTokens > 0) this.message.usage = usage;
    if (errorMessage !== undefined) this.message.errorMessage = errorMessage;
    this.#emit({ type: 'message_end', message: this.message });
    return this.message;
  }

  #add(raw: CsdkBlock): Block | undefined {
    const content = contentOf(raw);
    if (content === undefined) return undefined;
    const block: Block = {
      contentIndex: this.#content.length,
      content,
      started: false,
      closed: false,
      snapshotted: false,
      json: '',
    };
    this.#content.push(content);
    this.#blocks.push(block);
    return block;
  }

  /** The block of a delta, made now where its start never came. */
  #streamed(index: number, raw: CsdkBlock): Block {
    const known = this.#byStreamIndex.get(index);
    if (known !== undefined) return known;
    this.blockStart(index, raw);
    return this.#byStreamIndex.get(index) as Block; // blockStart adds every text and thinking block
  }

  /** The block that a complete frame is about: a tool by its id, others the first of their type in order (R7). */
  #match(raw: CsdkBlock): Block | undefined {
    if (raw.type === 'tool_use')
      return this.#blocks.find(
        ({ content }) => content.type === 'toolCall' && content.id === raw.id,
      );
    if (!this.streamed) return undefined;
    const type = raw.type === 'redacted_thinking' ? 'thinking' : raw.type;
    return this.#blocks.find(({ content, snapshotted }) => content.type === type && !snapshotted);
  }

  #isNew(raw: CsdkBlock): boolean {
    return !this.streamed || raw.type === 'tool_use';
  }

  #start(block: Block): void {
    if (block.started) return;
    block.started = true;
    if (block.content.type === 'text') this.#update({ type: 'text_start', ...this.#at(block) });
    else this.#update({ type: 'thinking_start', ...this.#at(block) });
  }

  #grow(block: Block, delta: string): void {
    const { content } = block;
    if (block.closed || delta === '') return;
    this.#start(block);
    if (content.type === 'text') {
      content.text += delta;
      this.#update({ type: 'text_delta', delta, ...this.#at(block) });
    } else if (content.type === 'thinking') {
      content.thinking += delta;
      this.#update({ type: 'thinking_delta', delta, ...this.#at(block) });
    }
  }

  #close(block: Block): void {
    if (block.closed) return;
    block.closed = true;
    const { content } = block;
    if (content.type === 'toolCall') {
      if (block.json !== '') content.arguments = argumentsOf(block.json);
      this.#startTool(content.id, content.name, content.arguments);
    } else if (block.started) {
      const ended = { content: textOfBlock(content), ...this.#at(block) };
      this.#update({ type: content.type === 'text' ? 'text_end' : 'thinking_end', ...ended });
    }
  }

  #at(block: Block) {
    return { contentIndex: block.contentIndex, partial: this.message };
  }

  #update(assistantMessageEvent: AssistantMessageEvent): void {
    this.#emit({ type: 'message_update', message: this.message, assistantMessageEvent });
  }
}
