/** Finds the next place of a kind at or after `from`; the length of the line where there is none. */
export type Seek = (from: number) => number;

/** The signs that can begin markup within a line, and where pairs of them can close. */
export interface LineSigns {
  /** The next sign that markup can begin with. */
  readonly begin: Seek;
  /** The next character that ends a line although it is no line feed: no pair reaches over it. */
  readonly lineBreak: Seek;
  /** Signs that can close what such a sign has begun. */
  readonly closing: Readonly<Record<PairSign, Closing>>;
  /** The end of the backticks that stand before it. */
  readonly afterBackticks: Seek;
  /** The next run of exactly so many backticks that begins at `from` or later. */
  readonly backticks: (count: number, from: number) => number;
}

/** Signs that stand in pairs around what they mark up. */
export type PairSign = '**' | '__' | '~~' | '||' | '*' | '_';

/** The places at which a sign of a pair can close. */
export interface Closing {
  readonly next: Seek;
  /** Returns whether it can close at a place in the part of the line that ends at `to`. */
  readonly isAt: (at: number, to: number) => boolean;
}

/**
 * Looks through a line. Each kind of place is looked for once, from the beginning to the end: so `from` may never be
 * less than it was in the call before.
 */
export function signsOf(line: string): LineSigns {
  const { length } = line;
  const seek = (isAt: (at: number) => boolean): Seek => {
    let at = 0;
    return (from) => {
      if (at < from) at = from;
      while (at < length && !isAt(at)) at++;
      return at;
    };
  };
  const is = (sign: string, at: number): boolean => line.startsWith(sign, at);
  const isAnyOf = (chars: string, at: number): boolean => chars.includes(line.charAt(at));
  const closing = (isAt: Closing['isAt']): Closing => ({
    next: seek((at) => isAt(at, length)),
    isAt,
  });
  return {
    begin: seek((at) => isAnyOf('\\`*_~|[', at)),
    lineBreak: seek((at) => isAnyOf('\r\u2028\u2029', at)),
    closing: {
      '**': closing((at, to) => is('**', at) && (at + 2 === to || !is('*', at + 2))),
      __: closing((at, to) => is('__', at) && (at + 2 === to || !isLetterAt(line, at + 2))),
      '~~': closing((at) => is('~~', at)),
      '||': closing((at) => is('||', at)),
      '*': closing(
        (at, to) => is('*', at) && isInWord(line, at, '*') && (at + 1 === to || !is('*', at + 1)),
      ),
      _: closing(
        (at, to) =>
          is('_', at) && isInWord(line, at, '_') && (at + 1 === to || !isLetterAt(line, at + 1)),
      ),
    },
    afterBackticks: seek((at) => !is('`', at)),
    backticks: backticksOf(line),
  };
}

/** Returns whether the character before a place is neither white space nor the sign itself. */
function isInWord(line: string, at: number, sign: string): boolean {
  const before = line.charAt(at - 1);
  return before !== sign && !isSpace(before);
}

/** Returns whether a character is white space; a missing one counts as white space, too. */
export function isSpace(char: string): boolean {
  return char.trim() === '';
}

const letter = /[\p{L}\p{N}]/u;

/** Returns whether a letter or a digit begins at a place. */
function isLetterAt(line: string, at: number): boolean {
  return letter.test(String.fromCodePoint(line.codePointAt(at) ?? 0));
}

/** Returns whether a letter or a digit ends before a place. */
export function isLetterBefore(line: string, at: number): boolean {
  const isPair =
    /[\ud800-\udbff]/.test(line.charAt(at - 2)) && /[\udc00-\udfff]/.test(line.charAt(at - 1));
  return at > 0 && letter.test(line.slice(at - (isPair ? 2 : 1), at));
}

function backticksOf(line: string): LineSigns['backticks'] {
  /** The places at which runs begin, by their length; those that were passed are gone, since `from` only grows. */
  let runs: Map<number, { readonly starts: number[]; next: number }> | undefined;
  return (count, from) => {
    if (runs === undefined) {
      runs = new Map();
      for (const { index, 0: run } of line.matchAll(/`+/g)) {
        const same = runs.get(run.length);
        if (same === undefined) runs.set(run.length, { starts: [index], next: 0 });
        else same.starts.push(index);
      }
    }
    const same = runs.get(count);
    if (same === undefined) return line.length;
    while ((same.starts[same.next] ?? line.length) < from) same.next++;
    return same.starts[same.next] ?? line.length;
  };
}
