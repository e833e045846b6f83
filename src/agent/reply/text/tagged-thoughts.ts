import { grownBy } from '@sluice/sdk/stream/internal';
import { mayBecomeTag, thinkRule } from './tag-stage.js';

const wholeTag = thinkRule.tag;
/** The tags that models think between. */
export const thinkTags = /<\s*(?:(\/)\s*)?(?:think(?:ing)?|thought|antthinking)\s*>/gi;

/**
 * The thoughts of a whole text: the text between closed tags, in code too.
 *
 * @example
 * taggedThoughts('<think>Hm.</think>Yes.'); // 'Hm.'
 */
export function taggedThoughts(text: string): string {
  if (!text.includes('<')) return '';
  const growing = new GrowingThoughts();
  growing.append(text);
  return growing.closed.trim();
}

/** The thoughts of a text that grows. */
export class GrowingThoughts {
  #closed = '';
  #hasClosed = false;
  #open = '';
  #isInside = false;
  /** The end of the text that may become a tag. It counts as a thought until it does. */
  #tail = '';

  /** The text between closed tags. */
  get closed(): string {
    return this.#closed;
  }

  /** Takes a piece. @returns the closed thoughts, or the open one if none is closed; and the growth, unless replaced. */
  append(piece: string) {
    const whole = this.#tail + piece;
    const isTag = this.#tail !== '' && wholeTag.test(whole);
    if (isTag && this.#isInside) this.#open = this.#open.slice(0, -this.#tail.length);
    this.#tail = tagStart(whole);
    const added = this.#read(isTag ? whole : piece);
    return { text: this.#hasClosed ? this.#closed : this.#open, added: isTag ? undefined : added };
  }

  /** Reads a piece. Gives the growth of the thoughts; nothing if they were replaced. */
  #read(piece: string): string | undefined {
    let added: string | undefined = '';
    let from = 0;
    const think = (text: string): void => {
      this.#open = grownBy(this.#open, text);
      if (!this.#hasClosed && added !== undefined) added += text;
    };
    for (const tag of piece.includes('<') ? piece.matchAll(thinkTags) : []) {
      if (this.#isInside) {
        think(piece.slice(from, tag.index));
        if (this.#hasClosed && added !== undefined) added += this.#open;
        this.#closed += this.#open;
        this.#hasClosed ||= this.#open.trim() !== '';
      }
      from = tag.index + tag[0].length;
      this.#isInside = tag[1] !== '/';
      this.#open = '';
      if (this.#isInside && !this.#hasClosed) added = undefined;
    }
    if (this.#isInside) think(piece.slice(from));
    return added;
  }
}

function tagStart(text: string): string {
  const at = text.lastIndexOf('<');
  const end = at < 0 ? '' : text.slice(at);
  return mayBecomeTag(end, thinkRule.names) ? end : '';
}
