import type { BlockReplyChunking } from './emit/reply-options.js';
import { type FenceSpan, fenceAround, fenceSpans } from './text/directives/fence-line.js';

/** The place of a cut, counted from the beginning of the next block. */
interface Cut {
  readonly at: number;
  /** The code block that the cut goes through. */
  readonly fence?: FenceSpan;
}

/** A text that is cut in one go, with its code blocks. */
interface Sheet {
  readonly text: string;
  readonly fences: readonly FenceSpan[];
  start: number;
  /** Opens the code block again that the last cut went through. Counts towards the rest, not towards a block. */
  reopen: string;
}

const paragraphEnd = /\n[\t ]*\n+/g;
const sentenceEnd = /[.!?](?=\s|$)/g;
const space = /\s/g;

/**
 * Cuts a growing text into blocks that can be sent: no shorter than `minChars` unless it is the last or a paragraph
 * of its own, no longer than `maxChars`. A code block that has to be cut is closed before the cut and opened again
 * after it. What it does for a piece depends on `maxChars`, not on the text so far.
 */
export class BlockChunker {
  readonly #least: number;
  readonly #most: number;
  /** As configured: it may be less than `minChars`. */
  readonly #maxChars: number;
  readonly #preference: 'paragraph' | 'newline' | 'sentence';
  readonly #flushOnParagraph: boolean;
  #text = '';

  constructor(options: BlockReplyChunking) {
    const minChars = Math.max(1, Math.floor(options.minChars));
    this.#flushOnParagraph = options.flushOnParagraph === true;
    this.#least = this.#flushOnParagraph ? 1 : minChars;
    this.#maxChars = Math.floor(options.maxChars);
    this.#most = Math.max(minChars, this.#maxChars);
    this.#preference = options.breakPreference ?? 'paragraph';
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  append(text: string): void {
    this.#text += text;
  }

  clear(): void {
    this.#text = '';
  }

  /** Takes the blocks off that are ready; with `all`, everything. */
  drain(all: boolean): string[] {
    const text = this.#text;
    if (all && text.length <= this.#most) {
      this.#text = '';
      return text.trim() === '' ? [] : [text];
    }
    if (!all && !this.#mayHoldBlock(text)) return [];
    const sheet: Sheet = { text, fences: fenceSpans(text), start: 0, reopen: '' };
    const blocks: string[] = [];
    while (sheet.start < text.length && this.#takeOne(sheet, all, blocks)) {
      // until nothing more can be taken
    }
    const rest = text.slice(sheet.start);
    this.#text = sheet.reopen === '' ? rest.replace(/^\n+/, '') : sheet.reopen + rest;
    return blocks;
  }

  /** Saves the scan for most pieces of a text that waits for a line end. */
  #mayHoldBlock(text: string): boolean {
    if (text.length < this.#least) return false;
    if (text.length >= this.#most || text.startsWith('\n')) return true;
    if (this.#preference !== 'newline' && !this.#flushOnParagraph) return true;
    return text.includes('\n');
  }

  /** Takes one block off; false where that was the last for now. */
  #takeOne(sheet: Sheet, all: boolean, blocks: string[]): boolean {
    const { text } = sheet;
    const left = sheet.reopen.length + text.length - sheet.start;
    if (!all && left < this.#least) return false;
    if (this.#flushOnParagraph && !all) {
      if (this.#takeParagraph(sheet, blocks)) return true;
      if (left < this.#most) return false;
    }
    const cut = this.#findCut(sheet, all ? 1 : this.#least, all && left <= this.#most);
    if (cut === undefined) {
      if (!all) return false;
      push(blocks, sheet.reopen + text.slice(sheet.start));
      sheet.start = text.length;
      sheet.reopen = '';
      return false;
    }
    this.#takeUntil(sheet, cut, blocks);
    const rest = sheet.reopen.length + text.length - sheet.start;
    return all || (rest >= this.#least && (rest >= this.#most || this.#flushOnParagraph));
  }

  #takeParagraph(sheet: Sheet, blocks: string[]): boolean {
    const { text, fences, start } = sheet;
    const longest = Math.max(1, this.#most - sheet.reopen.length);
    for (const end of text.slice(start).matchAll(paragraphEnd)) {
      if (fenceAround(fences, start + end.index) !== undefined) continue;
      if (end.index > longest) return false;
      push(blocks, sheet.reopen + text.slice(start, start + end.index));
      sheet.start = afterLineEnds(text, start + end.index + end[0].length);
      sheet.reopen = '';
      return true;
    }
    return false;
  }

  #takeUntil(sheet: Sheet, { at, fence }: Cut, blocks: string[]): void {
    const { text } = sheet;
    const block = sheet.reopen + text.slice(sheet.start, sheet.start + at);
    sheet.start += at;
    sheet.reopen = '';
    if (block.trim() === '') {
      sheet.start = afterLineEnds(text, sheet.start);
    } else if (fence === undefined) {
      blocks.push(block);
      if (/^\s/.test(text.charAt(sheet.start))) sheet.start++;
      sheet.start = afterLineEnds(text, sheet.start);
    } else {
      const lineEnd = block.endsWith('\n') ? '' : '\n';
      blocks.push(`${block}${lineEnd}${fence.indent}${fence.marker}\n`);
      sheet.reopen = `${fence.line}\n`;
    }
  }

  /**
   * @param softly only at the first paragraph or line that ends, or the last sentence: what is left could go as it is.
   */
  #findCut(sheet: Sheet, least: number, softly: boolean): Cut | undefined {
    const { text, fences, start } = sheet;
    const most = Math.max(least, this.#maxChars);
    const left = text.length - start;
    if (left < least) return undefined;
    const window = softly ? text.slice(start) : text.slice(start, start + most);
    const isFree = (at: number): boolean => at > 0 && fenceAround(fences, start + at) === undefined;
    const find = softly ? firstOf : lastOf;
    const preference = this.#preference;
    let at = preference === 'paragraph' ? find(window, '\n\n', least, isFree) : -1;
    if (at < 0 && preference !== 'sentence') at = find(window, '\n', least, isFree);
    if (at < 0 && preference !== 'newline') at = lastMatch(window, sentenceEnd, least, isFree);
    if (at < 0 && !softly && (preference !== 'newline' || left >= most))
      at = lastMatch(window, space, least, isFree);
    if (at > 0) return { at };
    if (softly || left < most) return undefined;
    const fence = fenceAround(fences, start + most);
    return fence === undefined ? { at: most } : { at: most, fence };
  }
}

type IsFree = (at: number) => boolean;

function firstOf(text: string, sign: string, least: number, isFree: IsFree): number {
  for (let at = text.indexOf(sign, least); at >= 0; at = text.indexOf(sign, at + 1))
    if (isFree(at)) return at;
  return -1;
}

function lastOf(text: string, sign: string, least: number, isFree: IsFree): number {
  for (let at = text.lastIndexOf(sign); at >= least; at = text.lastIndexOf(sign, at - 1))
    if (isFree(at)) return at;
  return -1;
}

/** The last match that begins at `least` or later: after it for a sentence's end, before it for a space. */
function lastMatch(text: string, pattern: RegExp, least: number, isFree: IsFree): number {
  let last = -1;
  for (const { index } of text.matchAll(pattern)) {
    const at = pattern === sentenceEnd ? index + 1 : index;
    if (index >= least && isFree(at)) last = at;
  }
  return last;
}

function afterLineEnds(text: string, from: number): number {
  let at = from;
  while (text[at] === '\n') at++;
  return at;
}

function push(blocks: string[], block: string): void {
  if (block.trim() !== '') blocks.push(block);
}
