import type { AssistantContent } from '../../stream/index.js';
import { type CsdkBlock, isFields, textField } from '../frames/frame.js';
import { GrowingText } from '../frames/growing-text.js';

type Fields = Readonly<Record<string, unknown>>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface Common {
  /** The number of the block in its message. */
  readonly contentIndex: number;
  /** Its place in the content of the session's message; -1 where that cannot hold it. */
  slot: number;
  /** It is whole: what comes later for it is dropped. */
  closed: boolean;
}

interface Speech<Kind extends 'text' | 'thinking'> extends Common {
  readonly kind: Kind;
  readonly grown: GrowingText;
  readonly redacted: boolean;
  signature: string | undefined;
  /** What the message holds in the end, where a complete frame said something else than the deltas. */
  truth: string | undefined;
  /** Its first event was emitted. */
  started: boolean;
}

/** Text or thinking that grows. */
export type SpeechBlock = Speech<'text'> | Speech<'thinking'>;

/** A tool call: the host's tool, or one that the model's provider runs. */
export interface CallBlock extends Common {
  readonly kind: 'call';
  readonly byServer: boolean;
  readonly id: string;
  readonly name: string;
  /** The pieces of its arguments. */
  readonly json: GrowingText;
  /** The arguments, once a complete frame or the block's start has them. */
  input: Fields | undefined;
}

/** A block without events of its own, or with one when it is whole. */
export interface PlainBlock extends Common {
  readonly kind: 'serverResult' | 'compaction' | 'other';
  /** As it came last. */
  raw: CsdkBlock;
}

/** A block of a message that is open. Narrow by `kind`. */
export type OpenBlock = SpeechBlock | CallBlock | PlainBlock;

/** Makes a block of its start, or of a complete frame's block: without text, and without arguments that grow. */
export function openBlock(raw: CsdkBlock, contentIndex: number): OpenBlock {
  const kind = blockKind(raw);
  switch (kind) {
    case 'text':
    case 'thinking': {
      const redacted = raw.type === 'redacted_thinking';
      return {
        kind,
        contentIndex,
        slot: -1,
        closed: false,
        grown: new GrowingText(),
        redacted,
        signature: redacted ? (textField(raw, 'data') ?? '') : undefined,
        truth: undefined,
        started: false,
      };
    }
    case 'call':
      return {
        kind,
        contentIndex,
        slot: -1,
        closed: false,
        byServer: raw.type !== 'tool_use',
        id: textField(raw, 'id') ?? '',
        name: textField(raw, 'name') ?? 'unknown',
        json: new GrowingText(),
        input: isFields(raw.input) ? raw.input : undefined,
      };
    default:
      return { kind, contentIndex, slot: -1, closed: false, raw };
  }
}

/** What kind of block an API block is. */
export function blockKind(raw: CsdkBlock): OpenBlock['kind'] {
  switch (raw.type) {
    case 'text':
      return 'text';
    case 'thinking':
    case 'redacted_thinking':
      return 'thinking';
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return 'call';
    case 'compaction':
      return 'compaction';
    default:
      return raw.type.endsWith('_tool_result') ? 'serverResult' : 'other';
  }
}

/** What people could read of a block so far. */
export function speechOf(block: OpenBlock): string {
  return block.kind === 'text' || block.kind === 'thinking' ? block.grown.read() : '';
}

/** The arguments of a call: those of its complete frame, else what was streamed of them. */
export function argumentsOf(block: CallBlock): Fields {
  if (block.json.length === 0) return block.input ?? {};
  try {
    const value: unknown = JSON.parse(block.json.read());
    return isFields(value) ? value : {};
  } catch {
    return {}; // cut off in the middle
  }
}

/** The content of a block that still grows: its text is put together when it is read. Nothing for others. */
export function liveContent(block: OpenBlock): AssistantContent | undefined {
  if (block.kind === 'call') return finalContent(block);
  if (block.kind !== 'text' && block.kind !== 'thinking') return undefined;
  const { grown } = block;
  if (block.kind === 'thinking')
    return {
      type: 'thinking',
      get thinking() {
        return grown.read();
      },
    };
  return {
    type: 'text',
    get text() {
      return grown.read();
    },
  };
}

/** The content of a block that is whole, as plain data. Nothing for a block that session messages cannot hold. */
export function finalContent(block: OpenBlock): AssistantContent | undefined {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.truth ?? block.grown.read() };
    case 'thinking': {
      const thinking = block.truth ?? block.grown.read();
      const content: Writable<Extract<AssistantContent, { type: 'thinking' }>> = {
        type: 'thinking',
        thinking,
      };
      if (block.signature !== undefined) content.thinkingSignature = block.signature;
      if (block.redacted) content.redacted = true;
      return content;
    }
    case 'call': {
      const { id, name } = block;
      return block.byServer
        ? undefined
        : { type: 'toolCall', id, name, arguments: argumentsOf(block) };
    }
    default:
      return undefined;
  }
}
