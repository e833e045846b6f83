import { longestMediaLine, mayBeMediaLine } from './directives/media-line.js';
import { finalRule, mayBecomeTag, thinkRule } from './tag-stage.js';

const names = [...thinkRule.names, ...finalRule.names];

/**
 * Holds back what a growing text ends with where the next piece may make something else of it: the beginning of a
 * tag, and a line that may name media. Models send both in pieces, and people would see them come and go.
 */
export class HeldTail {
  #held = '';
  /** The line is known to name no media. */
  #isOrdinary = false;
  /** The held line is empty so far, or names media: it is held without reading the rest of it. */
  #line: 'empty' | 'media' | undefined;

  get isEmpty(): boolean {
    return this.#held === '';
  }

  /** Adds a piece; what can be shown now. */
  push(piece: string): string {
    if (this.#waits(piece)) {
      this.#held += piece;
      return '';
    }
    const text = this.#held + piece;
    const lineStart = text.lastIndexOf('\n') + 1;
    let cut = this.#mayNameMedia(text, lineStart) ? lineStart : text.length;
    const tag = cut === 0 ? -1 : text.lastIndexOf('<', cut - 1);
    if (tag >= 0 && mayBecomeTag(text.slice(tag, cut), names)) cut = tag;
    if (cut > 0) this.#isOrdinary = text[cut - 1] !== '\n';
    this.#held = text.slice(cut);
    this.#line = cut === lineStart ? lineOf(this.#held) : undefined;
    return text.slice(0, cut);
  }

  /** All that was held back: nothing more will be made of it. */
  release(): string {
    const held = this.#held;
    this.#held = '';
    this.#line = undefined;
    if (held !== '') this.#isOrdinary = !held.endsWith('\n');
    return held;
  }

  #waits(piece: string): boolean {
    if (this.#line === undefined || piece.includes('\n')) return false;
    if (this.#held.length + piece.length > longestMediaLine) return false;
    return this.#line === 'media' || piece.trim() === '';
  }

  #mayNameMedia(text: string, lineStart: number): boolean {
    if (lineStart === 0 && this.#isOrdinary) return false;
    return text.length - lineStart <= longestMediaLine && mayBeMediaLine(text.slice(lineStart));
  }
}

function lineOf(text: string): 'empty' | 'media' | undefined {
  const begun = text.trimStart();
  if (begun === '') return text === '' ? undefined : 'empty';
  return begun.startsWith('MEDIA:') ? 'media' : undefined;
}
