import type { AssistantContent } from '../stream/index.js';
import { type CsdkBlock, isFields, textField } from './frame.js';

/** The same fields, to be written while a message grows. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

type Content = { [C in AssistantContent as C['type']]: Writable<C> };

/** The content of a block that grows. */
export type BlockContent = Content['text'] | Content['thinking'] | Content['toolCall'];

/** The content that a block begins with; nothing for a kind that is not read in this version. */
export function contentOf(raw: CsdkBlock): BlockContent | undefined {
  switch (raw.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '' };
    case 'redacted_thinking':
      return {
        type: 'thinking',
        thinking: '',
        thinkingSignature: textField(raw, 'data') ?? '',
        redacted: true,
      };
    case 'tool_use':
      return {
        type: 'toolCall',
        id: textField(raw, 'id') ?? '',
        name: textField(raw, 'name') ?? 'unknown',
        arguments: isFields(raw.input) ? raw.input : {},
      };
    default:
      return undefined; // server tools and their results, compaction, ...: not in this version
  }
}

/** Keeps a signature, byte for byte. */
export function sign(content: Content['thinking'], signature: string | undefined): void {
  if (signature !== undefined && signature !== '') content.thinkingSignature = signature;
}

/** What people could read of a block so far. */
export function textOfBlock(content: BlockContent): string {
  if (content.type === 'text') return content.text;
  return content.type === 'thinking' ? content.thinking : '';
}

/** A tool call's arguments, of the JSON that was streamed. */
export function argumentsOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : {};
  } catch {
    return {}; // cut off in the middle; its complete frame, where one comes, has the arguments
  }
}
