import { type CsdkBlock, type CsdkMessage, type Fields, textField } from '../frames/frame.js';
import { countedFields } from '../frames/usage.js';
import {
  blockKind,
  type CallBlock,
  isSpeech,
  type OpenBlock,
  openBlock,
  type Passage,
} from './block.js';

/** An API message of the main lane while it is read: the blocks that came as raw events, and those that came whole. */
export class OpenMessage {
  /** Empty if the start of its stream never came, until a complete frame names it. */
  id: string;
  readonly model: string | undefined;
  /** It comes as raw events, and its complete frames confirm them. */
  readonly isStreamed: boolean;
  /** It has ended. It is kept for the complete frames that may still come. */
  isStopped = false;
  /** In order of opening. */
  readonly blocks: OpenBlock[] = [];
  /** The last count of each kind. */
  readonly usage: Record<string, number> = {};
  stopReason: string | undefined;
  /** The passage that a further block of text joins. */
  text: Passage | undefined;
  readonly #byStreamIndex = new Map<number, OpenBlock>();
  readonly #calls = new Map<string, CallBlock>();
  /** Blocks that came as raw events, and whose complete frame has not come. */
  readonly #unconfirmed: OpenBlock[] = [];
  #nextIndex = 0;

  constructor({ id, model, usage }: CsdkMessage, isStreamed: boolean) {
    this.id = id;
    this.model = model;
    this.isStreamed = isStreamed;
    this.uses(usage);
  }

  /** Later counts replace earlier ones; a null says nothing. */
  uses(usage: Fields | undefined): void {
    if (usage === undefined) return;
    for (const field of countedFields)
      if (typeof usage[field] === 'number') this.usage[field] = usage[field];
  }

  stopsFor(reason: string | undefined): void {
    this.stopReason = reason ?? this.stopReason;
  }

  /** The block that streams under an index. */
  streamed(index: number): OpenBlock | undefined {
    return this.#byStreamIndex.get(index);
  }

  /** A call that it holds, or has begun to hold. */
  call(id: string): CallBlock | undefined {
    return this.#calls.get(id);
  }

  /** Adds a block that begins to stream. */
  addStreamed(index: number, raw: CsdkBlock): OpenBlock {
    const block = this.#add(raw, index, true);
    this.#byStreamIndex.set(index, block);
    this.#unconfirmed.push(block);
    return block;
  }

  /** Adds a block that came whole. */
  addComplete(raw: CsdkBlock): OpenBlock {
    return this.#add(raw, this.#nextIndex, false);
  }

  /**
   * Finds the streamed block that a complete one is about: a call by its id, others by their text, then by order
   * (csdk §3.7). A block is found once, but for a call.
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

  #add(raw: CsdkBlock, index: number, isStreamed: boolean): OpenBlock {
    const before = this.text?.blocks.at(-1); // only a text comes while there is one
    if (before !== undefined) before.closed = true;
    const contentIndex = before?.contentIndex ?? Math.max(index, this.#nextIndex);
    this.#nextIndex = Math.max(index, this.#nextIndex) + 1;
    const block = openBlock(raw, contentIndex, isStreamed, this.text);
    if (block.kind === 'text') this.text = block.passage;
    this.blocks.push(block);
    if (block.kind === 'call') this.#calls.set(block.id, block);
    return block;
  }

  #unconfirmedOf(kind: OpenBlock['kind'], raw: CsdkBlock): OpenBlock | undefined {
    const candidates = this.#unconfirmed.filter((block) => block.kind === kind);
    if (candidates.length < 2 || !isSpeech(kind)) return candidates[0];
    const text = textField(raw, kind) ?? '';
    return (
      candidates.find((block) => textOf(block) === text) ??
      candidates.find((block) => !block.closed && text.startsWith(textOf(block))) ??
      candidates[0]
    );
  }
}

function textOf(block: OpenBlock): string {
  return block.kind === 'text' || block.kind === 'thinking' ? block.grown : '';
}
