/**
 * A digest of plain data, to tell two values apart without keeping them: 16 hexadecimal digits. It is no secret keeper: who can guess a
 * value can check the guess.
 *
 * @example
 * digestOf({ a: 1 }) === digestOf({ a: 1 }); // true
 */
export function digestOf(value: unknown): string {
  const text = textOf(value);
  let left = 0x811c9dc5; // FNV-1a, twice, from two beginnings
  let right = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    left = Math.imul(left ^ unit, 0x01000193);
    right = Math.imul(right ^ (unit + i), 0x01000193);
  }
  return hex(left) + hex(right);
}

function textOf(value: unknown): string {
  try {
    const plain = (_: string, one: unknown): unknown => (typeof one === 'bigint' ? `${one}n` : one);
    return JSON.stringify(value, plain) ?? 'undefined';
  } catch {
    return 'unreadable'; // a cycle
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
