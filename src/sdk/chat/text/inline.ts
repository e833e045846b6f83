import { isLetterBefore, isSpace, type LineSigns, type PairSign, signsOf } from './line-signs.js';
import type { Mark, RichText, Tag } from './rich-text.js';

/** The longest text between the signs of a pair, in UTF-16 units. */
const longest = 4_000;
const link = /\[([^[\]]{1,1000})\]\(((?:https?|tg|mailto):[^\s()<>]{1,2000})\)/y;
const escapable = '\\`*_{}[]()#+-.!|~>';
const tags: Readonly<Record<PairSign, Tag>> = {
  '**': 'b',
  __: 'b',
  '~~': 's',
  '||': 'spoiler',
  '*': 'i',
  _: 'i',
};

/** A marked up part of a line: its text is from `from` to `to`, the line goes on at `end`. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly end: number;
  readonly tag: Tag;
  readonly href?: string;
}

/**
 * Reads the markup within one line: code, bold, italic, struck and hidden text, links. A sign that is not closed is text. The
 * line is read once, from its beginning to its end, whatever is in it: a sign asks where the next one is that can close
 * it, and such questions only ever go forward.
 */
export function inline(line: string): RichText {
  const signs = signsOf(line);
  const marks: Mark[] = [];
  /** The parts that have begun, the innermost last, and which mark each of them is. */
  const open: { readonly piece: Piece; readonly mark: number }[] = [];
  let text = '';
  let from = 0; // what lies before it is in the text
  let at = 0;
  for (;;) {
    const inner = open.at(-1);
    const to = inner?.piece.to ?? line.length;
    const sign = signs.begin(at);
    if (sign >= to) {
      text += line.slice(from, to);
      if (inner === undefined) return { text, marks };
      const mark = marks[inner.mark];
      if (mark !== undefined) marks[inner.mark] = { ...mark, to: text.length };
      open.pop();
      at = from = inner.piece.end;
      continue;
    }
    at = sign + 1;
    if (line.charAt(sign) === '\\') {
      if (at >= to || !escapable.includes(line.charAt(at))) continue;
      text += line.slice(from, sign) + line.charAt(at);
      from = ++at;
      continue;
    }
    const piece = pieceAt(line, signs, sign, to);
    if (piece === undefined) continue;
    const { tag, href } = piece;
    text += line.slice(from, sign);
    open.push({ piece, mark: marks.length });
    marks.push({ from: text.length, to: text.length, tag, ...(href !== undefined && { href }) });
    from = piece.from;
    at = tag === 'code' ? piece.to : piece.from; // nothing within code is markup
  }
}

/** The markup that begins with the sign at `at`, in the part of the line that ends at `to`. */
function pieceAt(line: string, signs: LineSigns, at: number, to: number): Piece | undefined {
  const sign = line.charAt(at);
  if (sign === '`') return codeAt(line, signs, at, to);
  if (sign === '[') return linkAt(line, at, to);
  const isDouble = at + 1 < to && line.charAt(at + 1) === sign;
  const pair = isDouble ? sign + sign : sign;
  return isPairSign(pair) ? pairAt(line, signs, at, to, pair) : undefined;
}

function isPairSign(sign: string): sign is PairSign {
  return Object.hasOwn(tags, sign);
}

function pairAt(
  line: string,
  signs: LineSigns,
  at: number,
  to: number,
  pair: PairSign,
): Piece | undefined {
  const { length } = pair;
  const from = at + length;
  if (from >= to || isSpace(line.charAt(from))) return undefined;
  if (pair.startsWith('_') && isLetterBefore(line, at)) return undefined;
  const { next, isAt } = signs.closing[pair];
  const found = next(from + 1);
  const last = to - length; // it may close there, since its part of the line ends
  const close = found <= last ? found : last > from && isAt(last, to) ? last : undefined;
  if (close === undefined || close - from > longest || signs.lineBreak(from) < close)
    return undefined;
  return { from, to: close, end: close + length, tag: tags[pair] };
}

function codeAt(line: string, signs: LineSigns, at: number, to: number): Piece | undefined {
  const from = signs.afterBackticks(at);
  const count = from - at;
  const close = signs.backticks(count, from);
  if (close >= to || close - from > longest || signs.lineBreak(from) < close) return undefined;
  const said = line.slice(from, close);
  const isPadded = said.startsWith(' ') && said.endsWith(' ') && said.trim() !== '';
  const by = isPadded ? 1 : 0;
  return { from: from + by, to: close - by, end: close + count, tag: 'code' };
}

function linkAt(line: string, at: number, to: number): Piece | undefined {
  link.lastIndex = at;
  const [whole, text = '', href = ''] = link.exec(line) ?? [];
  if (whole === undefined || at + whole.length > to) return undefined;
  return { from: at + 1, to: at + 1 + text.length, end: at + whole.length, tag: 'a', href };
}
