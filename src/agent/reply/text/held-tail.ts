import { mayBeMediaLine } from './media-line.js';
import { finalRule, mayBecomeTag, thinkRule } from './tag-stage.js';

const names = [...thinkRule.names, ...finalRule.names];
/** A `MEDIA:` line that is longer than any source is shown as it is. */
const longestLine = 8192;

/**
 * Holds back what a growing text ends with where the next piece may make something else of it: the beginning of a
 * tag, and a line that may name media. Models send both in pieces, and people would see them come and go.
 */
export class HeldTail {
  #held = '';
  /** The line is known to name no media. */
  #isOrdinary = false;

  get isEmpty(): boolean {
    return this.#held === '';
  }

  /** Adds a piece; what can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece;
    const lineStart = text.lastIndexOf('\n') + 1;
    let cut = this.#mayNameMedia(text, lineStart) ? lineStart : text.length;
    const tag = cut === 0 ? -1 : text.lastIndexOf('<', cut - 1);
    if (tag >= 0 && mayBecomeTag(text.slice(tag, cut), names)) cut = tag;
    if (cut > 0) this.#isOrdinary = text[cut - 1] !== '\n';
    this.#held = text.slice(cut);
    return text.slice(0, cut);
  }

  /** All that was held back: nothing more will be made of it. */
  release(): string {
    const held = this.#held;
    this.#held = '';
    if (held !== '') this.#isOrdinary = !held.endsWith('\n');
    return held;
  }

  #mayNameMedia(text: string, lineStart: number): boolean {
    if (lineStart === 0 && this.#isOrdinary) return false;
    return text.length - lineStart <= longestLine && mayBeMediaLine(text.slice(lineStart));
  }
}
