/** Texts shorter than this, compared, say too little to be taken for one another. */
const shortest = 10;

/**
 * A text as it is compared with another: without case, emoji and the way it is spaced.
 *
 * @example
 * comparable('Yes,  👋\nindeed'); // 'yes, indeed'
 */
export function comparable(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\p{Emoji_Presentation}\p{Extended_Pictographic}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns whether one of two texts contains the other. Short texts never do: they say too little. */
export function saysTheSame(text: string, other: string): boolean {
  if (text.length < shortest || other.length < shortest) return false;
  return text.includes(other) || other.includes(text);
}
