import type { Token } from 'markdown-it';
import { MarkdownWriter } from './markdown-writer.js';
import { parseMarkdown } from './parse-markdown.js';
import { joined, plainText, type RichText, sliceOf } from './rich-text.js';
import { characterStart } from './split.js';

/** The longest block that is read to show the end of a reply that grows, in UTF-16 units: up to twice as much. */
export const sourceWindow = 8_192;
/** The longest end of a reply that is shown while it grows, in UTF-16 units. */
export const contentWindow = 3_800;
/** How much of what was read is remembered, to see whether the text still goes on as it began. */
const remembered = 64;

/** The place of the last block, and the tokens from there on, which count their lines from `line` lines before it. */
interface OpenBlock {
  readonly at: number;
  readonly line: number;
  readonly isFence: boolean;
  readonly tokens: readonly Token[] | undefined;
}

/**
 * Reads Markdown that grows. A block that has ended is read for good: each step reads what follows the last of them. Of
 * a block that is longer than the window the end is read; a block of code is opened again there. So the work grows with
 * the length of the text and with the number of steps, and not with their product.
 *
 * @example
 * const growing = new GrowingMarkdown();
 * const { rich, isCut } = growing.read(content); // as often as it has grown
 */
export class GrowingMarkdown {
  readonly #parse: typeof parseMarkdown;
  /** The text from here on is read at each step. */
  #from = 0;
  #before = '';
  /** The line that opened the block of code in which that text begins. */
  #fence = '';
  /** The end of the blocks before it, as they are shown. */
  #ended = plainText('');
  /** The line behind the last of them, counted from where the text is read: 0, or less. */
  #endLine = 0;
  #isCut = false;
  /** The definitions of links in those blocks. */
  #references = {};

  /** @param parse by default that of this package. */
  constructor(parse = parseMarkdown) {
    this.#parse = parse;
  }

  /** @returns the end of what the text is now, and whether something stands before it. */
  read(content: string): { readonly rich: RichText; readonly isCut: boolean } {
    const { length } = this.#before;
    if (content.slice(this.#from - length, this.#from) !== this.#before) this.#begin(); // another text
    let rest = this.#fence + content.slice(this.#from);
    let open = this.#openBlock(rest);
    if (open.at > 0) {
      this.#endBlocks(rest.slice(0, open.at));
      this.#moveTo(content, this.#from + open.at - this.#fence.length, '');
      rest = rest.slice(open.at);
    }
    if (rest.length > 2 * sourceWindow) {
      const least = content.length - sourceWindow;
      const line = content.lastIndexOf('\n', least) + 1;
      const cut = line > this.#from ? line : characterStart(content, this.#from, least);
      this.#ended = plainText('');
      this.#endLine = 0;
      this.#isCut = true;
      this.#moveTo(content, cut, open.isFence ? rest.slice(0, rest.indexOf('\n') + 1) : '');
      rest = this.#fence + content.slice(cut);
      const tokens = this.#parse(rest, { references: Object.create(this.#references) });
      open = { ...open, line: 0, tokens };
    }
    const { rich } = this.#written(rest, open.tokens, open.line);
    // markup around nothing, as `fromMarkdown` shows it
    return { rich: rich.text.trim() === '' ? plainText(rest) : rich, isCut: this.#isCut };
  }

  #begin(): void {
    this.#from = 0;
    this.#before = this.#fence = '';
    this.#ended = plainText('');
    this.#endLine = 0;
    this.#isCut = false;
    this.#references = {};
  }

  #moveTo(content: string, from: number, fence: string): void {
    this.#from = from;
    this.#fence = fence;
    this.#before = content.slice(Math.max(0, from - remembered), from);
  }

  /** Finds the last block that begins before the last line, which may become anything still. */
  #openBlock(source: string): OpenBlock {
    const tokens = this.#parse(source, { references: Object.create(this.#references) });
    const lines = linesOf(source);
    const first = tokens?.findLastIndex(
      ({ level, map }) => level === 0 && map !== null && map[0] < lines.length - 1,
    );
    const from = Math.max(0, first ?? 0);
    const token = tokens?.[from];
    const line = token?.map?.[0] ?? 0;
    const isFence = token?.type === 'fence';
    return { at: lines[line] ?? 0, line, isFence, tokens: tokens?.slice(from) };
  }

  /** Reads blocks that have ended, and keeps the end of what they show. */
  #endBlocks(source: string): void {
    const tokens = this.#parse(source, { references: this.#references });
    const { rich, endLine } = this.#written(source, tokens);
    const { length } = rich.text;
    const least = length - 2 * contentWindow;
    const from = least > 0 ? characterStart(rich.text, 0, least) : 0;
    this.#isCut ||= from > 0;
    this.#ended = from > 0 ? sliceOf(rich, from, length) : rich;
    this.#endLine = endLine - linesOf(source).length + 1;
  }

  /**
   * Writes the blocks of a source behind those that have ended.
   *
   * @param line is the line of the source in the text that the tokens count from.
   */
  #written(source: string, tokens: readonly Token[] | undefined, line = 0) {
    if (tokens === undefined) {
      const gap = plainText(this.#ended.text === '' ? '' : '\n');
      return { rich: joined(this.#ended, gap, plainText(source)), endLine: 0 };
    }
    const writer = new MarkdownWriter(this.#ended, this.#endLine + line);
    return { rich: writer.blocks(tokens), endLine: writer.endLine };
  }
}

/** The places at which the lines of a source begin. */
function linesOf(source: string): number[] {
  const ends = source.matchAll(/\r\n?|\n/g);
  return [0, ...[...ends].map(({ 0: end, index }) => index + end.length)];
}
