import { comparable } from './text/comparable.js';

/** The texts of a run's answer, as they were handed over, and the last one, to find a repeat. */
export class RunTexts {
  /** Live: the same array for the whole run. */
  readonly list: string[] = [];
  #message = 0;
  /** How many there were when the message began, or its text was settled. */
  #baseline = 0;
  #last: { message: number; text: string; compared: string } | undefined;

  /** A message begins. */
  startMessage(): void {
    this.#message++;
    this.#baseline = this.list.length;
  }

  /** The message has texts already. */
  get hasAny(): boolean {
    return this.list.length > this.#baseline;
  }

  /** The same message has said this last. */
  isRepeat(text: string): boolean {
    if (this.#last?.message !== this.#message) return false;
    const trimmed = text.trimEnd();
    if (this.#last.text === trimmed) return true;
    const compared = comparable(text);
    return compared !== '' && compared === this.#last.compared;
  }

  /** Adds a text, unless the same message has said it last. */
  add(text: string): void {
    if (this.isRepeat(text)) return;
    this.list.push(text);
    this.#last = { message: this.#message, text: text.trimEnd(), compared: comparable(text) };
  }

  /** Puts one text in the place of all that the message has. */
  replaceWith(text: string): void {
    this.list.length = this.#baseline;
    this.list.push(text);
    this.#last = { message: this.#message, text: text.trimEnd(), compared: comparable(text) };
  }

  /** Ends the texts of the message: the next text counts as new. */
  settle(): void {
    this.#baseline = this.list.length;
  }

  /** The run starts over. */
  clear(): void {
    this.list.length = 0;
    this.#baseline = 0;
    this.#last = undefined;
  }
}
