import { Recent } from '../../stream/index.js';
import {
  blockIndex,
  type CsdkBlock,
  type CsdkStreamEvent,
  isFields,
  isTyped,
  type KnownFrame,
  messageOf,
  textField,
} from '../frames/frame.js';
import { assistantText } from './blocks/assistant-text.js';
import type { CoderBody } from './blocks/coder-event.js';
import { changesOf } from './blocks/file-change.js';
import { type OpenCall, OpenCalls } from './blocks/open-calls.js';
import { OpenText } from './blocks/open-text.js';
import { TaskPlan } from './blocks/task-plan.js';

type AssistantFrame = Extract<KnownFrame, { kind: 'assistant' }>;
type UserFrame = Extract<KnownFrame, { kind: 'user' }>;

/** So many messages that are over are remembered. */
const closedMessages = 256;

/** What the model says and calls in the main thread, and what its tools answer. */
export class MainThread {
  readonly #emit: (body: CoderBody) => void;
  readonly #calls = new OpenCalls();
  readonly #plan = new TaskPlan();
  readonly #closed = new Recent<string, true>(closedMessages);
  #open: OpenText | undefined;
  /** What streams belongs to a message that is over: it is dropped. */
  #isOver = false;

  constructor(emit: (body: CoderBody) => void) {
    this.#emit = emit;
  }

  streamEvent(event: CsdkStreamEvent): void {
    if (event.type === 'message_start') this.#messageStart(messageOf(event.message)?.id ?? '');
    else if (!this.#isOver) this.#streamedEvent(event);
  }

  #streamedEvent(event: CsdkStreamEvent): void {
    const index = blockIndex(event);
    switch (event.type) {
      case 'content_block_start':
        if (isTyped(event.content_block)) this.#streamed().blockStart(index, event.content_block);
        return;
      case 'content_block_delta':
        if (isTyped(event.delta)) this.#streamed().blockDelta(index, event.delta);
        return;
      case 'content_block_stop':
        this.#open?.blockStop(index);
        return;
      case 'message_stop':
        if (this.#open !== undefined) this.#open.isStopped = true;
        return;
      default: // message_delta counts what the result counts again; ping, and what is yet to come
    }
  }

  /** A complete frame: mostly one block of a message, older ones all of them. */
  assistant({ message }: Pick<AssistantFrame, 'message'>): void {
    const isLate = this.#closed.has(message.id);
    if (!isLate) this.#continue(message.id);
    for (const block of message.content) {
      if (block.type === 'text' || block.type === 'thinking') {
        if (!isLate) this.#open?.snapshot(block); // late text was told, or given up
      } else this.#toolBlock(block);
    }
  }

  /** Frames of the user: the answers of tools. */
  user(frame: UserFrame): void {
    this.settle();
    const answers = frame.content.filter(({ type }) => type === 'tool_result');
    // the structured twin says of which it is only where there is one
    for (const block of answers)
      this.#answer(block, answers.length === 1 ? frame.toolUseResult : undefined);
  }

  /** What a subagent calls and is answered: remembered, for what it changes; told as progress elsewhere. */
  subagent(frame: AssistantFrame | UserFrame): void {
    const blocks = frame.kind === 'assistant' ? frame.message.content : frame.content;
    for (const block of blocks) {
      if (block.type === 'tool_use')
        this.#calls.begin(idOf(block, 'id'), nameOf(block), block.input);
      if (block.type !== 'tool_result' || frame.kind !== 'user') continue;
      const call = this.#calls.end(idOf(block, 'tool_use_id'));
      if (call === undefined || block.is_error === true) continue;
      const structured = blocks.length === 1 ? frame.toolUseResult : undefined;
      this.#changes(call, structured, block.content);
    }
  }

  /** Tells a call, once. */
  call(id: string, name: string, args: unknown): void {
    if (!this.#calls.begin(id, name, args)) return;
    this.#emit({
      type: 'tool_use',
      name,
      ...(id !== '' && { callId: id }),
      ...(args !== undefined && { args }),
    });
  }

  /** Tells an answer that came as a message of its own, under the name of its call where it says none. */
  flatAnswer(answer: Extract<CoderBody, { type: 'tool_result' }>): void {
    this.settle();
    const id = answer.callId ?? '';
    const known = this.#calls.get(id)?.name;
    if (this.#calls.end(id, answer.name) === undefined) return;
    this.#emit(known === undefined ? answer : { ...answer, name: known });
  }

  /** Tells as whole what was only streamed: nothing more comes for it. */
  settle(): void {
    this.#open?.settle();
  }

  /** Another conversation takes the place of this one. */
  reset(): void {
    this.#displace();
    this.#calls.clear();
    this.#plan.clear();
  }

  /** Goes on with the message of that id, or opens it. */
  #continue(id: string): void {
    const open = this.#open;
    if (open?.isStreamed === true && open.id === '') open.id = id;
    if (open !== undefined && open.id === id && (id !== '' || open.isStreamed)) return;
    this.#displace();
    this.#open = this.#opened(id, false);
  }

  #messageStart(id: string): void {
    if (id !== '' && this.#open?.id === id && this.#open.isStreamed) return; // the same again
    this.#isOver = id !== '' && (this.#closed.has(id) || this.#open?.id === id);
    if (this.#isOver) return;
    this.#displace();
    this.#open = this.#opened(id, true);
  }

  /** The message that streams: one without a name where its start never came. */
  #streamed(): OpenText {
    if (this.#open?.isStreamed !== true) {
      this.#displace();
      this.#open = this.#opened('', true);
    }
    return this.#open;
  }

  #opened(id: string, isStreamed: boolean): OpenText {
    return new OpenText(id, isStreamed, {
      emit: this.#emit,
      call: (callId, name, args) => this.call(callId, name, args),
    });
  }

  /** Another message takes the place of this one. What a broken attempt has shown is given up, and said to be. */
  #displace(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.id !== '') this.#closed.set(open.id, true);
    if (open.isStreamed && !open.isStopped && open.isHalfTold)
      this.#emit({
        type: 'progress',
        label: 'retry',
        detail: 'what was streamed since the last whole message was given up',
      });
    else open.settle();
  }

  #toolBlock(block: CsdkBlock): void {
    if (/^(server_|mcp_)?tool_use$/.test(block.type)) {
      this.settle();
      this.call(idOf(block, 'id'), nameOf(block), block.input);
    } else if (block.type.endsWith('_tool_result')) {
      this.settle();
      this.#answer(block, undefined);
    }
  }

  #answer(block: CsdkBlock, structured: unknown): void {
    const id = idOf(block, 'tool_use_id');
    this.#open?.callNow(id);
    const name = this.#calls.get(id)?.name ?? 'unknown';
    if (isFields(structured) && structured.detachedToolCall === true) {
      this.#emit({ type: 'progress', label: name, detail: 'detached: it goes on' });
      return;
    }
    const call = this.#calls.end(id, name);
    if (call === undefined) return; // the same again
    const result = structured ?? block.content;
    const error = errorOf(block);
    this.#emit({
      type: 'tool_result',
      name,
      ...(id !== '' && { callId: id }),
      ...(result !== undefined && { result }),
      ...(error !== undefined && { error }),
    });
    if (error === undefined) this.#changes(call, structured, block.content);
  }

  #changes(call: OpenCall, structured: unknown, content: unknown): void {
    for (const change of changesOf(call, structured)) this.#emit(change);
    for (const change of this.#plan.after(call, structured, content)) this.#emit(change);
  }
}

/** What went wrong with a call: its flag tells, or, of a server's tool, the type of what it answered. */
function errorOf(block: CsdkBlock): string | undefined {
  const { content } = block;
  const told = isTyped(content) && content.type.endsWith('_error') ? content : undefined;
  if (block.is_error !== true && told === undefined) return undefined;
  const text = assistantText({ content });
  return text || (told && textField(told, 'error_code')) || 'The tool failed.';
}

function idOf(block: CsdkBlock, field: string): string {
  return textField(block, field) ?? '';
}

function nameOf(block: CsdkBlock): string {
  return textField(block, 'name') ?? 'unknown';
}
