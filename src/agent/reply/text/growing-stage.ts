/** The part of a text that stays, and how far the text was read. */
export interface StageRead {
  readonly kept: string;
  readonly end: number;
}

/**
 * One step on the way of a growing text. It keeps a part of each piece, and holds the end of the text back until it is
 * known what becomes of it. A piece costs what it is long, not what came before it.
 */
export class GrowingStage<Place extends object> {
  /** The place that was reached in the text. */
  readonly place: Place;
  readonly #read: (text: string, place: Place, isEnd: boolean) => StageRead;
  /** The end of the text that is not decided yet. */
  #held = '';

  /** @param read reads a text that begins at a place, moves the place, and with `isEnd` holds nothing back. */
  constructor(place: Place, read: (text: string, place: Place, isEnd: boolean) => StageRead) {
    this.place = place;
    this.#read = read;
  }

  /** Adds a piece. @returns the part of the text that is sure to stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const { kept, end } = this.#read(text, this.place, false);
    this.#held = text.slice(end);
    return kept;
  }

  /** Looks at the text as if it ended after `piece`, which is not added. @returns the part that would stay besides. */
  peek(piece: string): { readonly kept: string; readonly place: Place } {
    const place = { ...this.place };
    const text = this.#held + piece;
    return { kept: text === '' ? '' : this.#read(text, place, true).kept, place };
  }

  /** Ends the text. @returns the part that stays besides. */
  finish(): string {
    const text = this.#held;
    this.#held = '';
    return this.#read(text, this.place, true).kept;
  }
}
