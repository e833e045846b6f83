import { describe, expect, it } from 'vitest';
import { syntaxPlace } from '../../../src/sdk/extension/load/syntax-place.js';

describe('the place of a mistake in a text', () => {
  it.each([
    ['{ "a": 1 ]', 10],
    ['{ "é": 1 ]', 10],
    ['{ "日本": 1 ]', 11],
    ['{ "\u{1f600}": 1 ]', 11],
  ])('is told in characters, not in bytes: %s', (line, column) => {
    expect(syntaxPlace('a.json', `{ "x":\n${line} }`)).toEqual({ line: 2, column });
  });
});
