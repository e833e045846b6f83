import { type RichText, sliceOf } from './rich-text.js';

/** How far before a cut a whole character (an emoji of several code points, say) is looked for. */
const reach = 64;

/**
 * Cuts a text into pieces that a provider takes: at the last line end, else at the last space, if that is past the
 * half; else between two characters. Marks are cut with it, so that each piece is well-formed by itself. The white
 * space that a cut falls into goes; pieces of nothing but white space do, too.
 *
 * @param limit UTF-16 units of one piece; at least 2, so that every character has room.
 * @example
 * const pieces = split(fromMarkdown(message.content), 4_096);
 */
export function split(rich: RichText, limit: number): RichText[] {
  const pieces: RichText[] = [];
  for (let from = 0; from < rich.text.length; ) {
    const to = cutAfter(rich.text, from, limit);
    const piece = sliceOf(rich, from, to);
    if (piece.text.trim() !== '') pieces.push(piece);
    from = to;
    // one separator, which is the cut itself; what is indented after it stays so
    if (from < rich.text.length && /\s/.test(rich.text[from] ?? '')) from++;
  }
  return pieces;
}

/** Finds the end of the piece that begins at `from`. */
function cutAfter(text: string, from: number, limit: number): number {
  const furthest = from + limit;
  if (furthest >= text.length) return text.length;
  const half = from + limit / 2;
  for (const separator of ['\n', ' ']) {
    const at = text.lastIndexOf(separator, furthest);
    if (at > half) return at;
  }
  return characterStart(text, from, furthest);
}

/** The beginning of the character that `at` falls into: a cut there splits none. */
export function characterStart(text: string, from: number, at: number): number {
  const begin = Math.max(from, at - reach);
  const nearby = text.slice(begin, at + reach);
  const segments = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(nearby);
  const start = begin + (segments.containing(at - begin)?.index ?? at - begin);
  if (start > begin) return start;
  const isPair = isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
  return isPair && at - 1 > from ? at - 1 : at; // one endless character: between its code points, then
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
