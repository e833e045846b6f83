/** Pieces that are held before they are joined. */
const heldPieces = 1024;

/**
 * A text that grows by small pieces. Adding one costs the same however long the text is, and what is kept beside
 * the text does not grow with the number of pieces: an engine keeps an object for each piece of a text that is only
 * ever added to, and joins them all when it is read.
 */
export class GrowingText {
  #whole = '';
  #pieces: string[] = [];
  #length = 0;

  /** In UTF-16 code units. */
  get length(): number {
    return this.#length;
  }

  append(piece: string): void {
    this.#length += piece.length;
    if (this.#pieces.push(piece) >= heldPieces) this.#join();
  }

  /** The text so far. */
  read(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#whole;
  }

  clear(): void {
    this.#whole = '';
    this.#pieces = [];
    this.#length = 0;
  }

  #join(): void {
    this.#whole += this.#pieces.join('');
    this.#pieces = [];
  }
}
