/**
 * The end of a text that is too long. It is never cut within a character.
 *
 * @param maxLength in UTF-16 code units.
 */
export function textTail(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const from = text.length - maxLength;
  const isLowHalf = (text.charCodeAt(from) & 0xfc00) === 0xdc00;
  return text.slice(isLowHalf ? from + 1 : from);
}
