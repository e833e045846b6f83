import { closesFence, type FenceLine, fenceLine } from './directives/fence-line.js';
import { longestMediaLine, mayBeMediaLine, readMediaLine } from './directives/media-line.js';
import { GrowingStage, type StageRead } from './growing-stage.js';

/** The place of a text that is read line by line. */
interface MediaPlace {
  fence: FenceLine | undefined;
  /** The line is known to be an ordinary one. */
  isOrdinary: boolean;
  hasMedia: boolean;
}

const fenceBegin = /^ {0,3}(?:`{1,2}|~{1,2}|`{3}.*|~{3}.*)?$/;

/** Takes `MEDIA:` lines out of a growing text, outside of code blocks. A line that may be one is held until it ends. */
export function mediaStage(): GrowingStage<MediaPlace> {
  return new GrowingStage<MediaPlace>(
    { fence: undefined, isOrdinary: false, hasMedia: false },
    read,
  );
}

function read(text: string, place: MediaPlace, isEnd: boolean): StageRead {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const isWhole = newline >= 0 || isEnd;
    const line = newline < 0 ? text.slice(at) : text.slice(at, newline);
    const next = newline < 0 ? text.length : newline + 1;
    if (line.length > longestMediaLine) place.isOrdinary = true;
    if (!place.isOrdinary && !isWhole && (mayBeMediaLine(line) || fenceBegin.test(line))) break;
    kept += place.isOrdinary ? text.slice(at, next) : readLine(line, text.slice(at, next), place);
    place.isOrdinary = newline < 0;
    at = next;
  }
  return { kept, end: at };
}

/** Gives the part of a whole line that stays. */
function readLine(line: string, withEnd: string, place: MediaPlace): string {
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
