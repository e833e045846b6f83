import { describe, expect, it } from 'vitest';
import { errorSummary } from '../../../src/host/logging/error-summary.js';

describe('what a log says of an error (§20.3)', () => {
  it('is its class, its code and where it comes from, not its text', () => {
    const error = Object.assign(new TypeError('planted'), { code: 'ECONNREFUSED' });
    expect(errorSummary(error)).toEqual({
      type: 'TypeError',
      code: 'ECONNREFUSED',
      at: expect.stringMatching(/error-summary\.test\.ts:\d+:\d+$/),
    });
  });

  it('names a file without the query of a reload', () => {
    const error = new TypeError('x');
    error.stack = 'TypeError: x\n    at end (file:///srv/mark.ts?sluice=2:4:41)';
    expect(errorSummary(error)).toEqual({ type: 'TypeError', at: '/srv/mark.ts:4:41' });
  });

  it.each([
    ['a text', 'planted', { type: 'string' }],
    [
      'a message that looks like a frame',
      new Error('x\n    at planted (planted:1:1)'),
      { type: 'Error', at: expect.not.stringContaining('planted') },
    ],
    [
      'a name that is a text',
      Object.assign(new Error('x'), { name: 'planted text' }),
      { type: 'Error' },
    ],
    [
      'a stack that somebody wrote',
      Object.assign(new Error('x'), { stack: 'planted:1:1' }),
      { type: 'Error' },
    ],
    [
      'what does not want to be read',
      new Proxy(new Error('x'), {
        get: () => {
          throw new Error('planted');
        },
      }),
      { type: 'unreadable' },
    ],
  ])('holds nothing of %s', (_, thrown, expected) => {
    expect(errorSummary(thrown)).toMatchObject(expected);
    expect(JSON.stringify(errorSummary(thrown))).not.toContain('planted');
  });
});
