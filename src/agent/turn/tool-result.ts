import { resultText } from '../../run/index.js';
import type { ToolExecutionEnd } from '../../stream/index.js';

/**
 * A tool's end with its result in the shape that the reply callbacks read: an object whose `content` is a list of blocks.
 * Agents answer with what they like: a text, a list of blocks, an object of their own.
 */
export function withResultBlocks(end: ToolExecutionEnd): ToolExecutionEnd {
  const { result } = end;
  if (result === undefined || result === null) return end;
  if (Array.isArray(result)) return { ...end, result: { content: result as readonly unknown[] } };
  if (typeof result === 'object' && 'content' in result && Array.isArray(result.content))
    return end;
  const content = [{ type: 'text', text: resultText(result) }];
  return { ...end, result: { content, ...(typeof result === 'object' && { details: result }) } };
}
