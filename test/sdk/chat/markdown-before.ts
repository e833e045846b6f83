import {
  joined,
  marked,
  plainText,
  type RichText,
  type Tag,
} from '../../../src/sdk/chat/text/rich-text.js';

const fence = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)([^`]*)$/;

/**
 * Reads the Markdown that models write: code, bold, italic, struck and hidden text, links, headings, lists, quotes.
 * Markup that is not closed is text, and so is a block of code with nothing in it. Images and tables stay as they are written.
 */
export function fromMarkdown(source: string): RichText {
  const blocks: RichText[] = [];
  const lines = source.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [, opening, language = '', more = ''] = fence.exec(line) ?? [];
    if (opening !== undefined) {
      const end = closingFence(lines, at + 1, opening);
      const about = more.trim(); // there is no other place for it
      const code = [...(about === '' ? [] : [about]), ...lines.slice(at + 1, end)].join('\n');
      if (code.trim() === '') blocks.push(...lines.slice(at, end + 1).map(plainText));
      else blocks.push(marked('pre', plainText(code), language === '' ? {} : { language }));
      at = end;
    } else if (/^\s{0,3}>/.test(line)) {
      const quoted: RichText[] = [];
      for (; /^\s{0,3}>/.test(lines[at] ?? ''); at++)
        quoted.push(inline((lines[at] ?? '').replace(/^\s{0,3}> ?/, '')));
      at--;
      blocks.push(marked('blockquote', byLine(quoted)));
    } else blocks.push(oneLine(line));
  }
  return byLine(blocks);
}

/** The line that closes a block of code; the end of the text where none does: it may still be growing. */
function closingFence(lines: readonly string[], from: number, opening: string): number {
  const sign = opening.charAt(0);
  for (let at = from; at < lines.length; at++) {
    const line = lines[at]?.trim() ?? '';
    if (line.length >= opening.length && line.replaceAll(sign, '') === '') return at;
  }
  return lines.length;
}

function byLine(lines: readonly RichText[]): RichText {
  return joined(...lines.flatMap((line, at) => (at === 0 ? [line] : [plainText('\n'), line])));
}

function oneLine(line: string): RichText {
  const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
  if (heading !== undefined) return marked('b', inline(heading));
  const [, indent = '', rest] = /^(\s*)[-*+]\s+(.*)$/.exec(line) ?? [];
  return rest === undefined ? inline(line) : joined(plainText(`${indent}• `), inline(rest));
}

/** Pairs of signs with text between them, the longer signs first. */
const pairs: readonly (readonly [RegExp, Tag])[] = [
  [/\*\*(?=\S)(.{1,4000}?\S?)\*\*(?!\*)/y, 'b'],
  [/(?<![\p{L}\p{N}])__(?=\S)(.{1,4000}?)__(?![\p{L}\p{N}])/uy, 'b'],
  [/~~(?=\S)(.{1,4000}?)~~/y, 's'],
  [/\|\|(?=\S)(.{1,4000}?)\|\|/y, 'spoiler'],
  [/\*(?=[^\s*])(.{1,4000}?)(?<=[^\s*])\*(?!\*)/y, 'i'],
  [/(?<![\p{L}\p{N}])_(?=[^\s_])(.{1,4000}?)(?<=[^\s_])_(?![\p{L}\p{N}])/uy, 'i'],
];
const code = /(`+)(?!`)(.{1,4000}?)(?<!`)\1(?!`)/y;
const link = /\[([^[\]]{1,1000})\]\(((?:https?|tg|mailto):[^\s()<>]{1,2000})\)/y;
const escaped = /\\([\\`*_{}[\]()#+\-.!|~>])/y;
const sign = /[\\`*_~|[]/g;

function inline(line: string): RichText {
  const parts: RichText[] = [];
  let from = 0;
  const take = (until: number): void => {
    if (until > from) parts.push(plainText(line.slice(from, until)));
  };
  for (let at = nextSign(line, 0); at !== -1; ) {
    const found = pieceAt(line, at);
    if (found === undefined) {
      at = nextSign(line, at + 1);
      continue;
    }
    take(at);
    parts.push(found.piece);
    from = found.end;
    at = nextSign(line, from);
  }
  take(line.length);
  return joined(...parts);
}

function nextSign(line: string, from: number): number {
  sign.lastIndex = from;
  return sign.exec(line)?.index ?? -1;
}

function pieceAt(
  line: string,
  at: number,
): { readonly piece: RichText; readonly end: number } | undefined {
  const matched = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(line);
  };
  const end = (match: RegExpExecArray): number => at + match[0].length;
  const plain = matched(escaped);
  if (plain !== null) return { piece: plainText(plain[1] ?? ''), end: end(plain) };
  const quoted = matched(code);
  if (quoted !== null) {
    const text = (quoted[2] ?? '').replace(/^ (.*\S.*) $/, '$1');
    return { piece: marked('code', plainText(text)), end: end(quoted) };
  }
  const linked = matched(link);
  if (linked !== null) {
    return {
      piece: marked('a', inline(linked[1] ?? ''), { href: linked[2] ?? '' }),
      end: end(linked),
    };
  }
  for (const [pattern, tag] of pairs) {
    const match = matched(pattern);
    const inner = match === null ? undefined : inline(match[1] ?? '');
    if (match !== null && inner !== undefined && inner.text !== '')
      return { piece: marked(tag, inner), end: end(match) };
  }
  return undefined;
}
