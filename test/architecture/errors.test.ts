import { describe, expect, it } from 'vitest';
import type { ErrorRow } from '../../src/index.js';
import { errorTable } from '../support/error-table.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { type SourceFile, sourceFiles } from '../support/source-tree.js';
import { literalOf, nodesOf, parse } from '../support/syntax.js';
import { layerOf, layers } from './layers.js';

const rows: readonly (readonly [string, ErrorRow])[] = Object.entries(errorTable);
const codes = rows.map(([code]) => code);

/** The string literals of some files, but for those of the rows and of the tests of the sources. */
function literalsOf(files: readonly SourceFile[]): Set<string> {
  const read = files.filter(
    ({ path }) => !isErrorFile(path) && !path.startsWith('test/architecture/'),
  );
  return new Set(
    read.flatMap(({ path, text }) => nodesOf(parse(text, path)).map(literalOf)).filter(isText),
  );
}

function isErrorFile(path: string): boolean {
  return /^src\/(?:kernel\/error-rows|(?!kernel\/)[\w/]+\/errors)\.ts$/.test(path);
}

/** The codes of each layer's rows, which are the keys of the object in its errors.ts. */
const codesByLayer = new Map(
  sourceFiles('src')
    .filter(({ path }) => isErrorFile(path))
    .map(({ path, text }) => [
      layerOf(path) ?? '',
      [...text.matchAll(/^ {2}'?([\w-]+)'?: \{$/gm)].map(([, code]) => code ?? ''),
    ]),
);

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

describe('every error code', () => {
  it('is thrown somewhere in src', () => {
    const thrown = literalsOf(sourceFiles('src'));
    expect(codes.filter((code) => !thrown.has(code))).toEqual([]);
  });

  it('has its row in one layer', () => {
    expect([...codesByLayer.values()].flat().sort()).toEqual([...codes].sort());
  });

  it.each(layers.map((row, floor) => [row, floor] as const))(
    'of %s is thrown there, or in a layer above',
    (row, floor) => {
      for (const layer of row) {
        const above = layers.slice(floor + 1).flat();
        const thrown = literalsOf(sourceFiles(...[layer, ...above].map((one) => `src/${one}`)));
        const own = codesByLayer.get(layer) ?? [];
        expect(own.filter((code) => !thrown.has(code))).toEqual([]);
      }
    },
  );

  it('is named in a test', () => {
    const tested = literalsOf(sourceFiles('test', 'extensions'));
    expect(codes.filter((code) => !tested.has(code))).toEqual([]);
  });

  it('says what happened, why, and what to do, in whole sentences', () => {
    const unfinished = rows
      .flatMap(([code, row]) => Object.entries(row).map(([part, text]) => ({ code, part, text })))
      .filter(({ text }) => !/([.!?]|\{\w+\})$/.test(text));
    expect(unfinished).toEqual([]);
  });

  it('has a row in spec/errors.md', () => {
    const listed = rows.map(([code, { message, cause, hint }]) => [
      `\`${code}\``,
      message,
      cause,
      hint,
    ]);
    const about =
      'These errors are thrown on misuse. Expected failures are values in an outcome, not errors.\n' +
      'A word in braces stands for a value; an error holds all of them in `details`.';
    expectFresh(
      'spec/errors.md',
      `${heading('Error codes', about, 'test/architecture/errors.test.ts')}\n` +
        `${table(['code', 'what happened', 'the likely cause', 'what to do'], listed)}\n`,
    );
  });
});
