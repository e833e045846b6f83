import { inertText } from './inert-text.js';

const maxTextLength = 300;

/**
 * One line of bounded length for anything that was thrown, also if it does not want to be read. It has no half of a surrogate
 * pair, so that a journal can keep it (durability §4.6): an emoji at the cut is left out, a half that stands alone is U+FFFD.
 *
 * @returns at most 300 characters.
 * @example
 * oneLine(new TypeError('no\nuser')); // 'TypeError: no user'
 */
export function oneLine(thrown: unknown): string {
  const line = inertText(cut(read(thrown), maxTextLength * 4))
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= maxTextLength ? line : `${cut(line, maxTextLength - 1)}…`;
}

/** The beginning of a longer text. It ends before a surrogate pair that it would cut in half. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function read(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const { name, message } = thrown;
    return name === 'Error' ? `${message}` : `${name}: ${message}`;
  } catch {
    return 'something that cannot be read';
  }
}
