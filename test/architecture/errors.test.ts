import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/kernel/errors.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { sourceFiles } from '../support/source-tree.js';
import { literalOf, nodesOf, parse } from '../support/syntax.js';

const codes = Object.keys(errorTable);

/** The string literals of some files, but for this test's own and the table's. */
function literalsOf(...folders: readonly string[]): Set<string> {
  const files = sourceFiles(...folders).filter(
    ({ path }) => path !== 'src/kernel/errors.ts' && !path.startsWith('test/architecture/'),
  );
  return new Set(
    files.flatMap(({ path, text }) => nodesOf(parse(text, path)).map(literalOf)).filter(isText),
  );
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

describe('every error code', () => {
  it('is thrown somewhere in src', () => {
    const thrown = literalsOf('src');
    expect(codes.filter((code) => !thrown.has(code))).toEqual([]);
  });

  it('is named in a test', () => {
    const tested = literalsOf('test', 'extensions');
    expect(codes.filter((code) => !tested.has(code))).toEqual([]);
  });

  it('says what happened, why, and what to do, in whole sentences', () => {
    const unfinished = Object.entries(errorTable)
      .flatMap(([code, row]) => Object.entries(row).map(([part, text]) => ({ code, part, text })))
      .filter(({ text }) => !/([.!?]|\{\w+\})$/.test(text));
    expect(unfinished).toEqual([]);
  });

  it('has a row in spec/errors.md', () => {
    const rows = Object.entries(errorTable).map(([code, { message, cause, hint }]) => [
      `\`${code}\``,
      message,
      cause,
      hint,
    ]);
    const about =
      'What is thrown on misuse. Expected failures are values in an outcome, not errors.\n' +
      'A word in braces stands for a value; an error holds all of them in `details`.';
    expectFresh(
      'spec/errors.md',
      `${heading('Error codes', about, 'test/architecture/errors.test.ts')}\n` +
        `${table(['code', 'what happened', 'the likely cause', 'what to do'], rows)}\n`,
    );
  });
});
