import { inline } from './inline.js';
import { joined, joinedAll, marked, plainText, type RichText } from './rich-text.js';

/** A character within a line that is read as its end. */
const lineBreak = /[\r\u2028\u2029]/;

/** The line that opens a block of code: its signs, the language, and what else the line says. */
interface Fence {
  readonly signs: string;
  readonly language: string;
  readonly about: string;
}

/** Reads a line as one that opens a block of code. */
export function fenceOf(line: string): Fence | undefined {
  const [opening, signs] = /^\s{0,3}(`{3,}|~{3,})/.exec(line) ?? [];
  if (opening === undefined || signs === undefined) return undefined;
  const rest = line.slice(opening.length).trimStart();
  if (rest.includes('`')) return undefined;
  const [language = ''] = /^[\w+#.-]*/.exec(rest) ?? [];
  return { signs, language, about: rest.slice(language.length).trim() };
}

/** Returns whether a line closes the block of code that was opened with such signs. */
export function closes(line: string, signs: string): boolean {
  const said = line.trim();
  return said.length >= signs.length && said.replaceAll(signs.charAt(0), '') === '';
}

/**
 * Reads the Markdown that models write: code, bold, italic, struck and hidden text, links, headings, lists, quotes.
 * Markup that is not closed is text, and so is a block of code with nothing in it. Images and tables stay as they are written.
 *
 * @example
 * fromMarkdown('a **b**'); // { text: 'a b', marks: [{ from: 2, to: 3, tag: 'b' }] }
 */
export function fromMarkdown(source: string): RichText {
  const blocks: RichText[] = [];
  const lines = source.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const fence = fenceOf(line);
    if (fence !== undefined) {
      const { signs, language, about } = fence;
      const end = closingFence(lines, at + 1, signs);
      // what else the line says has no other place
      const code = [...(about === '' ? [] : [about]), ...lines.slice(at + 1, end)].join('\n');
      if (code.trim() === '') blocks.push(plainText(lines.slice(at, end + 1).join('\n')));
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
function closingFence(lines: readonly string[], from: number, signs: string): number {
  let at = from;
  while (at < lines.length && !closes(lines[at] ?? '', signs)) at++;
  return at;
}

function byLine(lines: readonly RichText[]): RichText {
  return joinedAll(lines.flatMap((line, at) => (at === 0 ? [line] : [plainText('\n'), line])));
}

function oneLine(line: string): RichText {
  const heading = headingOf(line);
  if (heading !== undefined) return marked('b', inline(heading));
  const [bullet = '', indent = ''] = /^(\s*)[-*+]\s+/.exec(line) ?? [];
  const rest = line.slice(bullet.length);
  if (bullet === '' || lineBreak.test(rest)) return inline(line);
  return joined(plainText(`${indent}• `), inline(rest));
}

/** The text of a heading, without the signs and the white space around it. */
function headingOf(line: string): string | undefined {
  const [opening] = /^\s{0,3}#{1,6}\s+/.exec(line) ?? [];
  if (opening === undefined) return undefined;
  let end = line.length;
  while (line.charAt(end - 1) === '#') end--;
  const said = line.slice(opening.length, Math.max(opening.length, end)).trimEnd();
  return lineBreak.test(said) ? undefined : said;
}
