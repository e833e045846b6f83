import type { ReplyChange } from './growing-reply.js';

/**
 * The shown part of a text that grows. A text can lose a part that was shown: a tag is known as one only when the tag
 * within it is gone. Such a text is shown once more when it goes on from the shown part. The cost depends on the
 * change, not on the text.
 */
export class ShownText {
  #text = '';
  /** The text from `#from` on, apart: to read that out of a text that grew piece by piece would join all of it. */
  #end = '';
  #from = 0;
  /** The length of the shown text that the text begins with now. */
  #matched = 0;
  /** The rest of the text, if it begins with all that was shown. */
  #more = '';

  /** Takes a change. Gives the growth of the shown text; nothing if the change cannot be shown. */
  grow(change: ReplyChange): string | undefined {
    const wasShown = this.#matched === this.#text.length && this.#more === '';
    this.#match(change);
    if (!change.isGrown) return undefined;
    const added = this.#more;
    if (added === '') return wasShown ? '' : undefined;
    this.#text = change.text;
    this.#end = change.end;
    this.#from = change.kept;
    this.#matched = change.text.length;
    this.#more = '';
    return added;
  }

  #match({ kept, end }: ReplyChange): void {
    if (kept >= this.#text.length && this.#matched === this.#text.length) {
      this.#more = this.#more.slice(0, kept - this.#text.length) + end;
    } else if (kept <= this.#matched) {
      const rest = kept < this.#from ? this.#text.slice(kept) : this.#end.slice(kept - this.#from);
      const isWhole = end.startsWith(rest);
      this.#matched = isWhole ? this.#text.length : kept + commonLength(rest, end);
      this.#more = isWhole ? end.slice(rest.length) : '';
    } // else they differ before what is kept
  }
}

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}
