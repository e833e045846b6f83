import { closes, fenceOf } from './markdown.js';

/** How much of a reply that grows is read to show its end, in UTF-16 units: up to twice as much. */
export const sourceWindow = 8_192;
/** How much of what lies before the window is remembered, to see whether the text still goes on as it began. */
const remembered = 64;

/**
 * Gives the end of a text that grows, in Markdown, so that what one step costs does not depend on how long the text has
 * become. It is cut where a line begins; a block of code that is open there is opened again. Each line is looked at once.
 *
 * @example
 * const growing = new GrowingSource();
 * const { source, isCut } = growing.tail(content); // as often as it has grown
 */
export class GrowingSource {
  #from = 0;
  #before = '';
  /** The line that opened the block of code in which the window begins. */
  #fence: string | undefined;

  /**
   * The end of what the text is now.
   *
   * @returns as much of the text as has to be read to show its end, and whether something stands before it.
   */
  tail(content: string) {
    const { length } = this.#before;
    if (content.slice(this.#from - length, this.#from) !== this.#before) this.#begin(); // another text
    if (content.length - this.#from > 2 * sourceWindow) this.#advance(content);
    const rest = content.slice(this.#from);
    const isCut = this.#from > 0;
    return { source: this.#fence === undefined ? rest : `${this.#fence}\n${rest}`, isCut };
  }

  #begin(): void {
    this.#from = 0;
    this.#before = '';
    this.#fence = undefined;
  }

  /** Moves the window over whole lines; into a line only where that is longer than the window. */
  #advance(content: string): void {
    const least = content.length - sourceWindow;
    while (this.#from < least) {
      const end = content.indexOf('\n', this.#from);
      if (end === -1 || end >= least) break;
      this.#pass(content.slice(this.#from, end));
      this.#from = end + 1;
    }
    if (content.length - this.#from > 2 * sourceWindow) {
      const isHalf = /[\udc00-\udfff]/.test(content.charAt(least)); // of a pair
      this.#from = isHalf ? least + 1 : least;
    }
    this.#before = content.slice(Math.max(0, this.#from - remembered), this.#from);
  }

  #pass(line: string): void {
    if (this.#fence === undefined) {
      if (fenceOf(line) !== undefined) this.#fence = line;
    } else if (closes(line, fenceOf(this.#fence)?.signs ?? '')) this.#fence = undefined;
  }
}
