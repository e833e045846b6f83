import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorSummary } from '../../../src/host/logging/error-summary.js';
import { journalError } from '../../../src/journal/errors.js';
import { thisCopy } from '../../../src/sdk/extension/internal.js';

/** An error that Node throws for a wrong argument. */
function nodesOwn(): unknown {
  try {
    return readFileSync(undefined as never); // wrong on purpose
  } catch (error) {
    return error;
  }
}

describe('what a log says of an error (§20.3)', () => {
  it('is its class, its code and where it comes from, not its text', () => {
    const error = Object.assign(new TypeError('planted'), { code: 'ECONNREFUSED' });
    expect(errorSummary(error)).toEqual({
      type: 'TypeError',
      code: 'ECONNREFUSED',
      at: expect.stringMatching(/error-summary\.test\.ts:\d+:\d+$/),
    });
  });

  it('of an error of this project is its text, too, and the place in the code of its author', () => {
    const error = journalError('journal-in-use', { path: '/srv/sluice.db' });
    error.stack = [
      `${error.name}: ${error.message}`,
      `    at refuse (file://${thisCopy.folder}/dist/chunks/extension-x.js:9579:20)`,
      '    at async Promise.all (index 0)',
      '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
      '    at async remind (file:///srv/acme/remind.ts?sluice=2:14:9)',
    ].join('\n');
    expect(errorSummary(error)).toEqual({
      type: 'SluiceError',
      code: 'journal-in-use',
      message: error.message,
      at: '/srv/acme/remind.ts:14:9',
    });
  });

  it('of an error of this project that quotes another one holds no text, and the place of that one', () => {
    const cause = new TypeError('planted');
    cause.stack = 'TypeError: planted\n    at setup (file:///srv/acme/guard.ts:3:7)';
    const error = journalError('journal-lost', { path: 'x', problem: String(cause) }, { cause });
    expect(errorSummary(error)).toEqual({
      type: 'SluiceError',
      code: 'journal-lost',
      at: '/srv/acme/guard.ts:3:7',
    });
  });

  it('names a file without the query of a reload', () => {
    const error = new TypeError('x');
    error.stack = 'TypeError: x\n    at end (file:///srv/mark.ts?sluice=2:4:41)';
    expect(errorSummary(error)).toEqual({ type: 'TypeError', at: '/srv/mark.ts:4:41' });
  });

  it.each([
    [
      'a name that its class gives it',
      new (class extends Error {
        override name = 'MyError';
      })('x'),
    ],
    ['a code of Node', nodesOwn()],
    ['no text', new Error()],
  ])('of an error with %s has its place', (_, error) => {
    expect(errorSummary(error).at).toMatch(/error-summary\.test\.ts:\d+:\d+$/);
  });

  it('of a syntax error has the place before its text', () => {
    const error = new SyntaxError('planted');
    error.stack = `file:///srv/my%20bot/a.mjs:3\nfoo bar\n    ^^^\n\nSyntaxError: planted\n    at compile (node:internal/x:1:2)`;
    expect(errorSummary(error)).toEqual({ type: 'SyntaxError', at: '/srv/my bot/a.mjs:3' });
  });

  it('that quotes a thrown text holds no text', () => {
    const error = journalError(
      'journal-lost',
      { path: 'x', problem: 'planted' },
      { cause: 'planted' },
    );
    expect(errorSummary(error)).not.toHaveProperty('message');
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
