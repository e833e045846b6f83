import { definedFields } from 'sluice-kernel/internal';
import { type DirectedText, readDirectives, silentReply } from './read-directives.js';

/**
 * Reads the directives of a message that comes in pieces. What a piece says about the message that is answered holds
 * for the pieces after it; a directive that a piece leaves open waits for the next.
 */
export class DirectiveQueue {
  #open = '';
  /** The last sign of it. */
  #last = '';
  /** Which message the reply answers, as its directives said so far. */
  #target: Pick<DirectedText, 'replyToId' | 'replyToCurrent' | 'replyToTag'> = nothingSaid;

  /** Adds a piece. Nothing if there is nothing to show of it. @param isLast what is open is read as it is. */
  push(piece: string, isLast = false): DirectedText | undefined {
    if (this.#open !== '' && !isLast && !hasBrackets(this.#last + piece)) {
      this.#open += piece; // not read again: it may be long
      this.#last = piece.slice(-1) || this.#last;
      return undefined;
    }
    const text = this.#open + piece;
    const at = isLast ? text.length : openAt(text);
    this.#open = text.slice(at);
    this.#last = this.#open.slice(-1);
    if (at === 0) return undefined;
    const said = readDirectives(text.slice(0, at));
    const read = isSilentSoFar(said.text) ? { ...said, text: '' } : said;
    const before = this.#target;
    this.#target = {
      ...definedFields({ replyToId: read.replyToId ?? before.replyToId }),
      replyToCurrent: before.replyToCurrent || read.replyToCurrent,
      replyToTag: before.replyToTag || read.replyToTag,
    };
    if (read.text === '' && read.mediaUrls.length === 0 && !read.audioAsVoice) return undefined;
    return { ...read, ...this.#target };
  }

  /** A new message begins. */
  clear(): void {
    this.#open = '';
    this.#last = '';
    this.#target = nothingSaid;
  }
}

const nothingSaid = { replyToCurrent: false, replyToTag: false };

function hasBrackets(text: string): boolean {
  return text.includes('[[') || text.includes(']]');
}

/** Finds the directive that a text leaves open; the text's length if it leaves none. */
function openAt(text: string): number {
  const begin = text.lastIndexOf('[[');
  return begin >= 0 && !text.includes(']]', begin) ? begin : text.length;
}

/** A piece that may be the beginning of saying nothing. A single letter may be anything. */
function isSilentSoFar(text: string): boolean {
  const said = text.trim();
  return said.length >= 2 && silentReply.startsWith(said);
}
