import type { AssistantContent } from '../../stream/index.js';
import { argumentsOf, type OpenBlock, type SpeechBlock } from '../messages/block.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The content of blocks of text that are one, while it grows: it is put together when it is read. */
export function liveText(blocks: readonly SpeechBlock[]): AssistantContent {
  return {
    type: 'text',
    get text() {
      return wholeText(blocks);
    },
  };
}

/** The text of blocks that are one, as their complete frames have it. */
export function wholeText(blocks: readonly SpeechBlock[]): string {
  return blocks.map(({ whole, grown }) => whole ?? grown.read()).join('');
}

/** The content of a block, no text, that still grows. Nothing for a block that session messages cannot hold. */
export function liveContent(block: OpenBlock): AssistantContent | undefined {
  if (block.kind === 'thinking')
    return {
      type: 'thinking',
      get thinking() {
        return block.grown.read();
      },
    };
  return finalContent(block);
}

/** The content of a block, no text, that is whole, as plain data. Nothing for a block that session messages cannot hold. */
export function finalContent(block: OpenBlock): AssistantContent | undefined {
  switch (block.kind) {
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
