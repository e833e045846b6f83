import type { AssistantContent } from '../../stream/index.js';
import { type CsdkBlock, textField } from '../frames/frame.js';
import {
  argumentsOf,
  blockKind,
  type CallBlock,
  finalContent,
  liveContent,
  type OpenBlock,
  openBlock,
  speechOf,
} from './open-block.js';
import type { KnownCall } from './tool-calls.js';

/** The blocks of one message, those that come as deltas and those that come whole, and the content they make. */
export class MessageContent {
  /** Live: what the message holds so far. */
  readonly list: AssistantContent[] = [];
  /** In order of opening. */
  readonly blocks: OpenBlock[] = [];
  readonly #byStreamIndex = new Map<number, OpenBlock>();
  readonly #calls = new Map<string, CallBlock>();
  /** Blocks that came as deltas, and whose complete frame has not come. */
  readonly #unconfirmed: OpenBlock[] = [];
  readonly #streamedKinds = new Set<OpenBlock['kind']>();
  #nextIndex = 0;

  /** The block that streams under an index. */
  streamed(index: number): OpenBlock | undefined {
    return this.#byStreamIndex.get(index);
  }

  /** Adds a block that begins to stream. */
  addStreamed(index: number, raw: CsdkBlock): OpenBlock {
    const block = this.#add(raw, index);
    this.#byStreamIndex.set(index, block);
    this.#unconfirmed.push(block);
    this.#streamedKinds.add(block.kind);
    return block;
  }

  /** Adds a block that came whole. */
  addComplete(raw: CsdkBlock): OpenBlock {
    return this.#add(raw, this.#nextIndex);
  }

  /**
   * The streamed block that a complete one is about: a tool by its id, others by what they say, then by order
   * (csdk §3.7). It is not matched again, but for tools.
   */
  confirm(raw: CsdkBlock): OpenBlock | undefined {
    const kind = blockKind(raw);
    const block =
      kind === 'call'
        ? this.#calls.get(textField(raw, 'id') ?? '')
        : this.#unconfirmedOf(kind, raw);
    const at = block === undefined ? -1 : this.#unconfirmed.indexOf(block);
    if (at >= 0) this.#unconfirmed.splice(at, 1);
    return block;
  }

  /** Whether blocks of this kind came as deltas. */
  hasStreamed(kind: OpenBlock['kind']): boolean {
    return this.#streamedKinds.has(kind);
  }

  /** A call that it holds, or has begun to hold. */
  callOf(id: string): KnownCall | undefined {
    const block = this.#calls.get(id);
    return block === undefined ? undefined : { name: block.name, args: argumentsOf(block) };
  }

  /** Puts what a block has become into the content, as plain data. */
  settle(block: OpenBlock): void {
    const content = finalContent(block);
    if (content !== undefined) this.list[block.slot] = content;
  }

  #add(raw: CsdkBlock, index: number): OpenBlock {
    const contentIndex = Math.max(index, this.#nextIndex);
    this.#nextIndex = contentIndex + 1;
    const block = openBlock(raw, contentIndex);
    this.blocks.push(block);
    if (block.kind === 'call') this.#calls.set(block.id, block);
    const content = liveContent(block);
    if (content !== undefined) block.slot = this.list.push(content) - 1;
    return block;
  }

  #unconfirmedOf(kind: OpenBlock['kind'], raw: CsdkBlock): OpenBlock | undefined {
    const candidates = this.#unconfirmed.filter((block) => block.kind === kind);
    if (candidates.length < 2 || (kind !== 'text' && kind !== 'thinking')) return candidates[0];
    const text = textField(raw, kind) ?? '';
    return (
      candidates.find((block) => speechOf(block) === text) ??
      candidates.find((block) => !block.closed && text.startsWith(speechOf(block))) ??
      candidates[0]
    );
  }
}
