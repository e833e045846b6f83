import type { AssistantContent } from '../../sdk/stream/index.js';
import { argumentsOf, type OpenBlock, wholeText } from '../messages/block.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The content of a block that still grows: its text is put together when it is read. Nothing for others. */
export function liveContent(block: OpenBlock): AssistantContent | undefined {
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
        return block.grown.read();
      },
    };
  return finalContent(block);
}

/** The content of a block that is whole, as plain data. Nothing for a block that session messages cannot hold. */
export function finalContent(block: OpenBlock): AssistantContent | undefined {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: wholeText(block.passage) };
    case 'thinking': {
      const thinking = block.whole ?? block.grown.read();
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
        : { type: 'toolCall', id, name, arguments: argumentsOf(block) ?? {} };
    }
    default:
      return undefined;
  }
}
