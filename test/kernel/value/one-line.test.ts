import { describe, expect, it } from 'vitest';
import { oneLine } from '../../../src/kernel/internal.js';

const smile = '\u{1f600}';
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

describe('the line of what was thrown', () => {
  it('has at most 300 characters and no half of an emoji, wherever the cut falls (durability §4.6)', () => {
    for (const count of [148, 149, 150, 151, 400, 599, 600, 601, 1_000])
      for (const before of ['', 'x', 'xy']) {
        const line = oneLine(new Error(before + smile.repeat(count)));
        expect(line.length).toBeLessThanOrEqual(300);
        expect(isWellFormed(line), `${before} and ${count}`).toBe(true);
        expect(line.startsWith(before + smile.repeat(140))).toBe(true);
      }
  });

  it('has no half of an emoji that was thrown as one (durability §4.6)', () => {
    expect(oneLine('a\ud83d')).toBe('a\ufffd');
    expect(oneLine('\ude00b\ude00\ud83d')).toBe('\ufffdb\ufffd\ufffd');
    expect(oneLine(`a${smile}`)).toBe(`a${smile}`);
  });
});
