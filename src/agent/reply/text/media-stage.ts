import { closesFence, type FenceLine, fenceLine } from './directives/fence-line.js';
import { longestMediaLine, mayBeMediaLine, readMediaLine } from './directives/media-line.js';

/** Where a text stands that is read line by line. */
interface Place {
  fence: FenceLine | undefined;
  /** The line is known to be an ordinary one. */
  isOrdinary: boolean;
  hasMedia: boolean;
}

/** What comes of a piece: what of it stays, and whether media were named by then. */
export interface MediaRead {
  readonly kept: string;
  readonly hasMedia: boolean;
}

const fenceBegin = /^ {0,3}(?:`{1,2}|~{1,2}|`{3}.*|~{3}.*)?$/;

/** Takes `MEDIA:` lines out of a growing text, outside of code blocks. A line that may be one is held until it ends. */
export class MediaStage {
  #place: Place = { fence: undefined, isOrdinary: false, hasMedia: false };
  #held = '';

  get hasMedia(): boolean {
    return this.#place.hasMedia;
  }

  /** Adds a piece; what of the text is sure to stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const { kept, end } = read(text, this.#place, false);
    this.#held = text.slice(end);
    return kept;
  }

  /** What would stay besides, were this the end of the text: after `piece`, which is not added. */
  peek(piece: string): MediaRead {
    const place = { ...this.#place };
    const { kept } = read(this.#held + piece, place, true);
    return { kept, hasMedia: place.hasMedia };
  }
}

function read(text: string, place: Place, isEnd: boolean): { kept: string; end: number } {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const isWhole = newline >= 0 || isEnd;
    const line = newline < 0 ? text.slice(at) : text.slice(at, newline);
    const next = newline < 0 ? text.length : newline + 1;
    if (line.length > longestMediaLine) place.isOrdinary = true;
    if (!place.isOrdinary && !isWhole && isOpen(line)) break;
    kept += place.isOrdinary ? text.slice(at, next) : readLine(line, text.slice(at, next), place);
    place.isOrdinary = newline < 0;
    at = next;
  }
  return { kept, end: at };
}

/** Whether more of a line may make a `MEDIA:` line or a fence of it. */
function isOpen(line: string): boolean {
  return mayBeMediaLine(line) || fenceBegin.test(line);
}

/** What stays of a line that begins here. */
function readLine(line: string, withEnd: string, place: Place): string {
  const fence = fenceLine(line);
  if (fence !== undefined) {
    if (place.fence === undefined) place.fence = fence;
    else if (closesFence(place.fence, fence)) place.fence = undefined;
    return withEnd;
  }
  const media = place.fence === undefined ? readMediaLine(line) : undefined;
  if (media === undefined) return withEnd;
  place.hasMedia = true;
  return media.rest === '' ? '' : media.rest + withEnd.slice(line.length);
}
