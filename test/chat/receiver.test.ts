import { expect, it } from 'vitest';
import { isSameSecret } from '../../src/chat/index.js';

it.each([
  ['abc', 'abc', true],
  ['abc', 'abcd', false],
  ['', 'abc', false],
  ['', '', false],
  ['abc', '', false],
  [undefined, 'abc', false],
  [['abc'], 'abc', false],
])('the secret %j is the same as %j: %j', (given, secret, is) => {
  expect(isSameSecret(given, secret)).toBe(is);
});
