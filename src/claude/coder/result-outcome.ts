import { type Fields, textField } from '../frames/frame.js';
import { toldErrors } from '../frames/result.js';
import type { CoderBody } from './blocks/coder-body.js';
import type { CoderUsageStats } from './blocks/coder-event.js';

/**
 * Puts a failed result into words for a person: its text, else its errors, else the words of its subtype.
 */
export function resultErrorMessage(result: Fields): string {
  const said =
    textField(result, 'result') ||
    textField(result, 'errors') ||
    toldErrors(result).join(', ') ||
    why(result);
  return said === undefined ? 'The Claude run failed.' : `The Claude run failed: ${said}`;
}

/** The usage that a message carries, if it does. */
export function usageBody(message: Fields): CoderBody | undefined {
  const { usage } = message;
  if (typeof usage !== 'object' || usage === null) return undefined;
  return { type: 'usage', stats: statsOf(usage as Fields) }; // an object: its fields are read one by one
}

function statsOf(usage: Fields): CoderUsageStats {
  const { input_tokens: input, output_tokens: output } = usage;
  return {
    ...usage,
    ...(typeof input === 'number' && { inputTokens: input }),
    ...(typeof output === 'number' && { outputTokens: output }),
  };
}

function why(result: Fields): string | undefined {
  const subtype = textField(result, 'subtype');
  if (subtype?.startsWith('error') === true) return subtype;
  return textField(result, 'terminal_reason');
}
