import { type CsdkBlock, type KnownFrame, textField } from '../frames/frame.js';
import type { CoderBody } from './blocks/coder-body.js';

type SubagentFrame = Extract<KnownFrame, { kind: 'assistant' | 'user' }>;

/**
 * Makes progress of a subagent's texts, calls and answers: they are never the main thread's text. Its deltas are left
 * out, for its complete frames say the same.
 */
export function subagentProgress(frame: SubagentFrame): CoderBody {
  const blocks = frame.kind === 'assistant' ? frame.message.content : frame.content;
  const detail = blocks.map(detailOf).filter(Boolean).join('\n');
  return { type: 'progress', label: 'subagent', ...(detail !== '' && { detail }) };
}

function detailOf(block: CsdkBlock): string | undefined {
  switch (block.type) {
    case 'text':
      return textField(block, 'text');
    case 'tool_use':
      return `calls ${textField(block, 'name') ?? 'a tool'}`;
    case 'tool_result':
      return block.is_error === true ? 'a tool failed' : 'a tool answered';
    default:
      return undefined;
  }
}
