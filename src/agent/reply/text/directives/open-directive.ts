/**
 * A growing text, without the directive at its end that is not closed yet. Until the first directive opens, a single
 * bracket at the end counts as one.
 */
export class OpenDirective {
  #open = '';
  /** The last sign of it: reading that from a text that grew piece by piece would join all of it. */
  #last = '';
  #isDirective = false;
  #hasOpened = false;

  /** Adds a piece. Gives the part of the text that is no open directive. */
  push(piece: string): string {
    const { at, begins = false } = this.#cut(piece);
    this.#hasOpened ||= begins || (this.#open + piece).includes('[[');
    if (at === undefined) {
      this.#open += piece;
      this.#last = piece.slice(-1) || this.#last;
      return '';
    }
    const text = this.#open + piece;
    this.#open = text.slice(at);
    this.#last = this.#open.slice(-1);
    this.#isDirective = begins;
    return text.slice(0, at);
  }

  /** Gives the text without an open directive, as if it ended after `piece`, which is not added. */
  peek(piece: string): string {
    const { at, isSingle } = this.#cut(piece);
    if (at === undefined) return '';
    const text = this.#open + piece;
    const hasOpened = this.#hasOpened || text.includes('[[');
    return isSingle && hasOpened ? text : text.slice(0, at);
  }

  /**
   * Finds the open directive in the held text and the piece. `at` is undefined if the directive that was open goes on,
   * and `isSingle` says that it is only a bracket that may become two.
   */
  #cut(piece: string): { at: number | undefined; begins?: boolean; isSingle?: boolean } {
    if (this.#open === '' && !piece.includes('[')) return { at: piece.length };
    const seam = this.#isDirective ? this.#last + piece : this.#open + piece;
    const shift = this.#open.length + piece.length - seam.length;
    const begin = seam.lastIndexOf('[[');
    const end = seam.lastIndexOf(']]');
    if (begin >= 0 && end < begin) return { at: shift + begin, begins: true };
    if (end < 0 && this.#isDirective) return { at: undefined };
    const single = /\[\s*$/.exec(seam);
    if (single === null) return { at: shift + seam.length };
    return { at: shift + single.index, isSingle: true };
  }
}

/** A whole text, without the directive at its end that is not closed. */
export function withoutOpenDirective(text: string): string {
  return new OpenDirective().peek(text);
}
