import { isFields } from '../../frames/frame.js';

/**
 * The text of an assistant message of any shape: its own `text` or `content`, else those of its `message`, else
 * its `delta` or `partial`. Of a list of blocks, the texts, one a line. Trimmed: for whole messages only, never
 * for a piece.
 */
export function assistantText(message: Readonly<Record<string, unknown>>): string {
  const inner = isFields(message.message) ? message.message : {};
  return (
    candidate(message.text ?? message.content) ||
    candidate(inner.text ?? inner.content) ||
    candidate(message.delta ?? message.partial)
  );
}

function candidate(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value
      .map((block: unknown) => (isFields(block) ? block.text : undefined))
      .filter((text) => typeof text === 'string' && text !== '')
      .join('\n')
      .trim();
  return isFields(value) && typeof value.text === 'string' ? value.text : '';
}
