import { closesFence, type FenceLine, fenceLine } from './directives/fence-line.js';
import { GrowingStage, type StageRead } from './growing-stage.js';

/** The place of a text that is read piece by piece: its open code, and its open tag. */
interface TagPlace {
  isLineStart: boolean;
  /** The code block that it is in. */
  fence: FenceLine | undefined;
  /** How many back-ticks opened the inline code that it is in; 0 outside. */
  ticks: number;
  /** Within the tag. */
  isInside: boolean;
}

/** Which tags are taken out, and what becomes of what stands between them. */
interface TagRule {
  /** Matches a whole tag at the start of a text; the first group is its slash. */
  readonly tag: RegExp;
  /** The names of the tag, in lower case. */
  readonly names: readonly string[];
  /** Which text stays: all but what is inside, what is inside, or all of it. */
  readonly keep: 'outside' | 'inside' | 'all';
}

/** A tag with more space in it than this is text. */
const longestTag = 256;
const thinkNames = ['think', 'thinking', 'thought', 'antthinking'];

/** Takes out what a model thought. */
export const thinkRule: TagRule = {
  tag: /^<\s*(?:(\/)\s*)?(?:think(?:ing)?|thought|antthinking)\s*>/i,
  names: thinkNames,
  keep: 'outside',
};

/** Takes the tags out that a final answer stands in. */
export const finalRule: TagRule = {
  tag: /^<\s*(?:(\/)\s*)?final\s*>/i,
  names: ['final'],
  keep: 'all',
};

/** Leaves the final answer alone. */
export const finalOnlyRule: TagRule = { ...finalRule, keep: 'inside' };

/** Returns whether a text that begins with `<` may become a tag of one of these names. */
export function mayBecomeTag(text: string, names: readonly string[]): boolean {
  const found = text.length > longestTag ? null : /^<\s*\/?\s*([a-z]*)(\s*)$/i.exec(text);
  if (found === null) return false;
  const [, letters = '', after = ''] = found;
  const name = letters.toLowerCase();
  return names.some((one) => (after === '' || name === '' ? one.startsWith(name) : one === name));
}

/**
 * Takes tags out of a growing text, outside of code. It holds back the end that may yet become a tag or a fence.
 *
 * @param start the tag and the inline code that the text begins in.
 */
export function tagStage(
  rule: TagRule,
  { isInside = false, ticks = 0 }: Partial<Pick<TagPlace, 'isInside' | 'ticks'>> = {},
): GrowingStage<TagPlace> {
  const place: TagPlace = { isLineStart: true, fence: undefined, ticks, isInside };
  return new GrowingStage(place, (text, at, isEnd) => readTags(rule, text, at, isEnd));
}

function readTags(rule: TagRule, text: string, place: TagPlace, isEnd: boolean): StageRead {
  let kept = '';
  let from = 0;
  let at = 0;
  const keep = (to: number): void => {
    if (rule.keep === 'all' || place.isInside === (rule.keep === 'inside'))
      kept += text.slice(from, to);
  };
  while (at < text.length) {
    if (place.isLineStart) {
      const next = readLineStart(text, at, place, isEnd);
      if (next === undefined) break;
      place.isLineStart = false;
      if (next > at) {
        at = next;
        continue;
      }
    }
    if (place.fence !== undefined) {
      const newline = text.indexOf('\n', at);
      place.isLineStart = newline >= 0;
      at = newline < 0 ? text.length : newline + 1;
      continue;
    }
    at = nextSign(text, at);
    const sign = text[at];
    if (sign === '\n') {
      place.isLineStart = true;
      at++;
    } else if (sign === '`') {
      const end = endOfRun(text, at, '`');
      if (end === text.length && !isEnd) break;
      if (place.ticks === 0) place.ticks = end - at;
      else if (place.ticks === end - at) place.ticks = 0;
      at = end;
    } else if (sign === '<' && place.ticks > 0) {
      at++;
    } else if (sign === '<') {
      const ahead = text.slice(at);
      const tag = rule.tag.exec(ahead);
      if (tag !== null) {
        keep(at);
        place.isInside = tag[1] !== '/';
        at += tag[0].length;
        from = at;
      } else if (!isEnd && mayBecomeTag(ahead, rule.names)) break;
      else at++;
    }
  }
  keep(at);
  return { kept, end: at };
}

/** Goes past a line that is a fence. Nothing if it is not known yet whether it is one. */
function readLineStart(text: string, at: number, place: TagPlace, isEnd: boolean) {
  const indent = endOfRun(text, at, ' ', 3);
  const sign = text[indent];
  if (sign === undefined) return isEnd ? at : undefined;
  if (sign !== '`' && sign !== '~') return at;
  const run = endOfRun(text, indent, sign);
  if (run === text.length && !isEnd) return undefined;
  if (run - indent < 3) return at;
  const newline = text.indexOf('\n', run);
  if (newline < 0 && !isEnd) return undefined;
  const end = newline < 0 ? text.length : newline;
  const fence = fenceLine(text.slice(at, end));
  if (fence === undefined) return at;
  if (place.fence === undefined) place.fence = fence;
  else if (closesFence(place.fence, fence)) place.fence = undefined;
  else return at;
  return end;
}

function nextSign(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 60 || code === 96) return at; // line end, <, `
  }
  return text.length;
}

function endOfRun(text: string, from: number, sign: string, most = Number.POSITIVE_INFINITY) {
  let at = from;
  while (text[at] === sign && at - from < most) at++;
  return at;
}
