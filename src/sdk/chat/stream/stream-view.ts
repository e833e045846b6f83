import { contentWindow } from '../text/growing-markdown.js';
import { joined, marked, plainText, type RichText, sliceOf, trimmed } from '../text/rich-text.js';
import { characterStart } from '../text/split.js';

/** The longest part of growing reasoning that is shown. */
const thinkingWindow = 600;
/** Stands where a growing reply ends. */
const cursor = ' ▌';

/** Reasoning that is shorter than this is not worth showing, in milliseconds. */
export const shortestThinkingMs = 2_000;

/**
 * A reply while it grows. Of a long one the end is shown, under a line that says so.
 *
 * @param isCut this is the end of a reply already.
 */
export function growingContent(content: RichText, isCut = false): RichText {
  const whole = trimmed(content);
  const isShort = whole.text.length <= contentWindow;
  if (isShort && !isCut) return joined(whole, plainText(cursor));
  return joined(
    marked('i', plainText('… the beginning follows with the whole answer')),
    plainText('\n\n'),
    isShort ? whole : tailOf(whole, contentWindow),
    plainText(cursor),
  );
}

/** Reasoning while it grows: its end, folded up. */
export function growingThinking(thinking: string): RichText {
  return folded('Thinking', thinking);
}

/** Reasoning that has ended, above the answer: folded up, with how long it took. */
export function endedThinking(thinking: string, durationMs: number | undefined): RichText {
  const seconds = durationMs === undefined ? '' : ` for ${(durationMs / 1_000).toFixed(1)}s`;
  return joined(folded(`Thought${seconds}`, thinking), plainText('\n'));
}

/** The end of reasoning, folded up under a title. */
function folded(title: string, thinking: string): RichText {
  const whole = plainText(thinking.trim());
  const shown =
    whole.text.length <= thinkingWindow
      ? whole
      : joined(plainText('…'), tailOf(whole, thinkingWindow));
  return joined(marked('i', plainText(title)), plainText('\n'), marked('expandable', shown));
}

/** The end of a text, from the beginning of a character on. */
function tailOf(rich: RichText, length: number): RichText {
  const { text } = rich;
  return sliceOf(rich, characterStart(text, 0, text.length - length), text.length);
}
