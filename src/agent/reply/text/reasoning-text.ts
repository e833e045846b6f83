import { grownBy } from '@sluice/sdk/stream/internal';

const title = 'Reasoning:';

/** How a growing text of reasoning changed. */
interface ReasoningChange {
  readonly text: string;
  /** The growth; the whole text if it does not begin with the one before. */
  readonly delta: string;
}

/**
 * A model's thoughts as people see them: under a title, each line in italics. Empty if there are none.
 *
 * @example
 * formatReasoning('one\ntwo'); // 'Reasoning:\n_one_\n_two_'
 */
export function formatReasoning(thinking: string): string {
  return new GrowingReasoning().append(thinking)?.text ?? '';
}

/** Reasoning that is formatted while it grows: a piece costs what it is long. */
export class GrowingReasoning {
  /** All of it but the sign that closes the last line. */
  #text = '';
  /** The space that it ends with, which waits for the word that follows. */
  #gap = '';

  /** Adds a piece. Nothing if that changes nothing. */
  append(piece: string): ReasoningChange | undefined {
    if (piece.trim() === '') {
      this.#gap += piece; // a long gap is read once
      return undefined;
    }
    const isFirst = this.#text === '';
    const text = isFirst ? (this.#gap + piece).trimStart() : this.#gap + piece;
    const words = text.trimEnd();
    this.#gap = text.slice(words.length);
    const [first = '', ...lines] = words.split('\n');
    let added = isFirst ? `${title}\n_${first}` : first;
    let isOpen = true; // an empty line has no signs
    for (const line of lines) {
      added += `${isOpen ? '_' : ''}\n${line === '' ? '' : `_${line}`}`;
      isOpen = line !== '';
    }
    this.#text = grownBy(this.#text, added);
    const whole = `${this.#text}_`;
    const closed = `${added}_`;
    return { text: whole, delta: !isFirst && closed.startsWith('_') ? closed.slice(1) : whole };
  }
}
