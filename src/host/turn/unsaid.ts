/**
 * Gives the text of a message beyond the pieces of it that went out. Blanks do not count: pieces are trimmed, and joined in one way
 * or the other.
 *
 * @returns the rest, without blanks in front of it; all of the text if it does not begin with the pieces.
 * @example
 * unsaid('I will search. Herons are birds.', ['I will search.']); // 'Herons are birds.'
 */
export function unsaid(text: string, pieces: readonly string[]): string {
  const end = endOf(text, pieces);
  return end === undefined ? text : text.slice(end).trimStart();
}

/** Returns whether two texts say the same, whatever blanks are between their words. */
export function saysTheSame(one: string, other: string): boolean {
  return endOf(one, [other]) === one.trimEnd().length;
}

/** The position in a text behind the pieces that it begins with; `undefined` if it does not begin with them. */
function endOf(text: string, pieces: readonly string[]): number | undefined {
  let at = 0;
  for (const piece of pieces)
    for (const char of piece.replace(/\s+/g, '')) {
      while (at < text.length && /\s/.test(text.charAt(at))) at++;
      if (!text.startsWith(char, at)) return undefined;
      at += char.length;
    }
  return at;
}
