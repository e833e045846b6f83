/**
 * Adds a piece to a text that is kept while it grows. An engine keeps an object of 32 bytes for each piece of a text that was only ever
 * added to. Here the text becomes one each time that it has grown by about a hundredth, and by 64 characters at least: what is kept
 * beside it does not grow with the number of its pieces, and a character is copied a hundred times at most.
 */
export function grownBy(text: string, piece: string): string {
  const length = text.length + piece.length;
  const bits = Math.max(6, 25 - Math.clz32(length)); // 64 times from one power of two to the next
  return text.length >> bits === length >> bits ? text + piece : [text, piece].join('');
}
