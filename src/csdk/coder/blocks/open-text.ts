import { type CsdkBlock, textField } from '../../frames/frame.js';
import { GrowingText } from '../../frames/growing-text.js';
import type { CoderBody } from './coder-event.js';

/** What an open message tells. */
export interface OpenTextTells {
  readonly emit: (body: CoderBody) => void;
  /** A tool call whose arguments are complete. */
  readonly call: (id: string, name: string, args: unknown) => void;
}

interface Block {
  readonly kind: 'text' | 'thinking' | 'tool';
  /** Its text, or the JSON of its arguments, as far as it was streamed. */
  readonly streamed: GrowingText;
  /** The call, of a tool. */
  readonly call: { readonly id: string; readonly name: string } | undefined;
  /** No more pieces are taken: it has stopped, or is whole. */
  isClosed: boolean;
  /** What was told as whole. */
  whole: string | undefined;
  /** A complete frame has brought it. */
  isFramed: boolean;
}

/**
 * One API message of the main thread, from deltas, from complete frames, or from both: of each text the pieces are
 * told once, and the whole once (C6, C7). Whole is what a complete frame says; where none has come, what was
 * streamed, as soon as something follows it.
 */
export class OpenText {
  /** Empty where the start of its stream never came, until a complete frame names it. */
  id: string;
  /** It comes as deltas; its complete frames confirm them. */
  readonly isStreamed: boolean;
  /** Its stream came to its end. */
  isStopped = false;
  readonly #tells: OpenTextTells;
  readonly #blocks: Block[] = [];
  readonly #byIndex = new Map<number, Block>();

  constructor(id: string, isStreamed: boolean, tells: OpenTextTells) {
    this.id = id;
    this.isStreamed = isStreamed;
    this.#tells = tells;
  }

  blockStart(index: number, raw: CsdkBlock): void {
    this.settle();
    this.#byIndex.delete(index);
    const block = this.#add(raw);
    if (block !== undefined) this.#byIndex.set(index, block);
  }

  blockDelta(index: number, delta: CsdkBlock): void {
    if (this.isStopped) return;
    if (delta.type === 'text_delta') {
      const block = this.#at(index, { type: 'text' });
      if (block.kind === 'text') this.#grow(block, textField(delta, 'text') ?? '');
    } else if (delta.type === 'thinking_delta') {
      const block = this.#at(index, { type: 'thinking' });
      if (block.kind === 'thinking') this.#grow(block, textField(delta, 'thinking') ?? '');
    } else if (delta.type === 'input_json_delta') {
      const block = this.#byIndex.get(index);
      if (block?.kind === 'tool') block.streamed.append(textField(delta, 'partial_json') ?? '');
    }
  }

  blockStop(index: number): void {
    const block = this.#byIndex.get(index);
    if (block === undefined || block.isClosed) return;
    block.isClosed = true;
    if (block.call === undefined) return;
    const json = block.streamed.read();
    const args = json === '' ? {} : parsed(json);
    if (args !== undefined) this.#tells.call(block.call.id, block.call.name, args); // else its frame will say
  }

  /** A text or thinking block of a complete frame. */
  snapshot(raw: CsdkBlock): void {
    const kind = raw.type === 'text' ? 'text' : 'thinking';
    const whole = textField(raw, kind) ?? '';
    const streamed = this.#blocks.find((block) => block.kind === kind && !block.isFramed);
    if (streamed === undefined && this.#isKnown(kind, whole)) return; // the same frame again
    const block = streamed ?? this.#add({ type: kind });
    if (block === undefined) return;
    block.isFramed = true;
    const soFar = block.streamed.read();
    if (block.whole === undefined) {
      if (whole.startsWith(soFar)) this.#grow(block, whole.slice(soFar.length), true);
      this.#complete(block, whole);
    } else if (whole.length > soFar.length && whole.startsWith(soFar)) {
      // told as whole before this frame came: what is missing is told as a piece and as a whole of its own
      const rest = whole.slice(soFar.length);
      this.#grow(block, rest, true);
      if (kind === 'text') this.#tells.emit({ type: 'message', role: 'assistant', text: rest });
    }
  }

  /** Whether people saw pieces of a text that nothing has completed. */
  get isHalfTold(): boolean {
    return this.#blocks.some((block) => this.#isPending(block));
  }

  /** Tells as whole what was streamed and has had no complete frame. */
  settle(): void {
    for (const block of this.#blocks)
      if (this.#isPending(block)) this.#complete(block, block.streamed.read());
  }

  /** A call that streams here is answered already: it is told with what is known of its arguments. */
  callNow(callId: string): void {
    const block = this.#blocks.find(({ call }) => call?.id === callId);
    if (block?.call === undefined) return;
    block.isClosed = true;
    this.#tells.call(callId, block.call.name, parsed(block.streamed.read()));
  }

  #isPending({ kind, whole, streamed }: Block): boolean {
    return kind === 'text' && whole === undefined && streamed.length > 0;
  }

  #isKnown(kind: Block['kind'], whole: string): boolean {
    return (
      this.isStreamed && this.#blocks.some((block) => block.kind === kind && block.whole === whole)
    );
  }

  #complete(block: Block, whole: string): void {
    block.whole = whole;
    block.isClosed = true;
    if (block.kind === 'text' && whole !== '')
      this.#tells.emit({ type: 'message', role: 'assistant', text: whole });
  }

  #grow(block: Block, piece: string, isFramed = false): void {
    if (piece === '' || (block.isClosed && !isFramed)) return;
    block.streamed.append(piece);
    if (block.kind === 'text')
      this.#tells.emit({ type: 'message', role: 'assistant', delta: true, text: piece });
    else this.#tells.emit({ type: 'progress', label: 'thinking', detail: piece });
  }

  #at(index: number, raw: CsdkBlock): Block {
    const known = this.#byIndex.get(index);
    if (known !== undefined) return known;
    this.blockStart(index, raw);
    return this.#byIndex.get(index) as Block; // blockStart adds every text and thinking block
  }

  #add(raw: CsdkBlock): Block | undefined {
    const kind = kinds.get(raw.type);
    if (kind === undefined) return undefined;
    const block: Block = {
      kind,
      streamed: new GrowingText(),
      call:
        kind === 'tool'
          ? { id: textField(raw, 'id') ?? '', name: textField(raw, 'name') ?? 'unknown' }
          : undefined,
      isClosed: false,
      whole: undefined,
      isFramed: false,
    };
    this.#blocks.push(block);
    return block;
  }
}

const kinds: ReadonlyMap<string, Block['kind']> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['tool_use', 'tool'],
  ['server_tool_use', 'tool'],
  ['mcp_tool_use', 'tool'],
]);

/** Parsed JSON; nothing where it was cut off. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // its complete frame, where one comes, has the arguments
  }
}
