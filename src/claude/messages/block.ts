import { type CsdkBlock, type Fields, isFields, textField } from '../frames/frame.js';

interface Common {
  /** The number of the block in its message. Only blocks of one passage share one. */
  readonly contentIndex: number;
  /** The block came as raw events. */
  readonly isStreamed: boolean;
  /** The block is whole: later pieces of it are late. */
  closed: boolean;
}

interface Speech<Kind extends 'text' | 'thinking'> extends Common {
  readonly kind: Kind;
  grown: string;
  readonly redacted: boolean;
  signature: string | undefined;
  /** The text of the block's complete frame. */
  whole: string | undefined;
  readonly passage: Passage;
}

/** Blocks of text that nothing stands between, or one block of thinking (csdk §3.13). */
export interface Passage {
  readonly blocks: SpeechBlock[];
  /** No other block joins it. */
  isSealed: boolean;
  /** Its start was told. */
  hasBegun: boolean;
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
  json: string;
  /** The arguments, once a complete frame or the block's start has them. */
  input: Fields | undefined;
}

/** A block that has no pieces. */
interface PlainBlock extends Common {
  readonly kind: 'serverResult' | 'compaction' | 'other';
  /** As it came last. */
  raw: CsdkBlock;
}

/** A block of a message. Narrow by `kind`. */
export type OpenBlock = SpeechBlock | CallBlock | PlainBlock;

/**
 * Makes a block of its start, or of a complete frame's block: without text, and without arguments that grow.
 *
 * @param joined the passage that a text joins.
 */
export function openBlock(
  raw: CsdkBlock,
  contentIndex: number,
  isStreamed: boolean,
  joined?: Passage,
): OpenBlock {
  const kind = blockKind(raw);
  const common = { contentIndex, isStreamed, closed: false };
  switch (kind) {
    case 'text':
    case 'thinking': {
      const redacted = raw.type === 'redacted_thinking';
      const signature = redacted ? (textField(raw, 'data') ?? '') : undefined;
      const speech = { grown: '', redacted, signature, whole: undefined };
      const passage = joined ?? { blocks: [], isSealed: kind === 'thinking', hasBegun: false };
      const block = { kind, ...speech, passage, ...common };
      passage.blocks.push(block);
      return block;
    }
    case 'call':
      return {
        kind,
        byServer: raw.type !== 'tool_use',
        id: textField(raw, 'id') ?? '',
        name: textField(raw, 'name') ?? 'unknown',
        json: '',
        input: isFields(raw.input) ? raw.input : undefined,
        ...common,
      };
    default:
      return { kind, raw, ...common };
  }
}

/** Names the kind of an API block. */
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

/** The text of a passage, as the complete frames have it. */
export function wholeText({ blocks }: Passage): string {
  return blocks.map(({ whole, grown }) => whole ?? grown).join('');
}

/** Says if people can read a block of this kind. */
export function isSpeech(kind: OpenBlock['kind']): kind is SpeechBlock['kind'] {
  return kind === 'text' || kind === 'thinking';
}

/** The arguments of a call, as far as they are known. Nothing if their JSON was cut off. */
export function argumentsOf({ json, input }: CallBlock): Fields | undefined {
  if (json === '') return input ?? {};
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined; // the complete frame, if one comes, has the arguments
  }
}
