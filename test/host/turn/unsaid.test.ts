import { describe, expect, it } from 'vitest';
import { saysTheSame, unsaid } from '../../../src/host/turn/unsaid.js';

describe('what a message says beyond the pieces that went out', () => {
  it.each([
    [
      'I will search. Herons are birds. No more.',
      ['I will search.', 'Herons are birds.'],
      'No more.',
    ],
    ['I will search.\n\nHerons are birds.', ['I will search.'], 'Herons are birds.'],
    ['I will search.', ['I will search.'], ''],
    ['ha ha ha', ['ha', 'ha'], 'ha'],
    ['Something else.', ['I will search.'], 'Something else.'],
    ['日本 👋 x', ['日本', '👋'], 'x'],
    ['Short', ['Short and more'], 'Short'],
    ['All of it.', [], 'All of it.'],
  ])('of %j without %j is %j', (text, pieces, rest) => {
    expect(unsaid(text, pieces)).toBe(rest);
  });

  it.each([
    ['a b', 'a\n\nb ', true],
    ['a b', 'a', false],
    ['a', 'a b', false],
    ['', ' ', true],
  ])('%j says the same as %j: %j', (one, other, same) => {
    expect(saysTheSame(one, other)).toBe(same);
  });
});
