import { describe, expect, it } from 'vitest';
import { bagsOf, codeLinesOf, functionsOf, tokensOf } from '../support/sizes.js';
import { sourceFiles } from '../support/source-tree.js';

/*
 * The sizes that stay small. A line counts if it has a token of the language. The figures are those of the day: a change that raises
 * one says why in the body of its commit, and a change that takes away lowers them. A new package brings a row of its own.
 */
const budgets = {
  /** Code lines by package; what is not named is in `rest`. */
  lines: {
    kernel: 9_323,
    sdk: 7_100,
    agent: 5_815,
    journal: 6_437,
    host: 13_758,
    testing: 1_769,
    cli: 6_836,
    openclaw: 17_130,
    claude: 5_616,
    postgres: 2_235,
    extensions: 14_770,
    adapters: 1_082,
    importer: 1_977,
    guard: 2_978,
    rest: 89,
  },
  /** Lines of tests and of what supports them. */
  testLines: 134_640,
  functionsAbove120Lines: 0,
  functionsAbove60Lines: 88,
  /** Fields of the widest type that is handed over as one; rows of catalogues are none. */
  widestBag: 33,
  /** A value that the compiler is told to take for another one. */
  castsByUnknown: 6,
} as const;

const files = sourceFiles('src', 'extensions');
const isTest = (path: string): boolean => path.includes('/test/');
const sources = tokensOf(files.filter(({ path }) => !isTest(path)));
const linesOf = (texts: readonly { readonly text: string }[]): number =>
  texts.reduce((sum, { text }) => sum + codeLinesOf(text), 0);

/** The packages that put the kernel into another framework. */
const adapters = new Set(['ai-sdk', 'judge', 'langchain', 'openai-agents']);

/** The row of the budget that a file counts for. */
function rowOf(path: string): keyof typeof budgets.lines {
  const [top, name = ''] = path.split('/');
  if (top === 'extensions' && name === 'import-openclaw') return 'importer';
  if (top === 'extensions' && name === 'guard') return 'guard';
  if (top === 'extensions') return adapters.has(name) ? 'adapters' : 'extensions';
  return name in budgets.lines ? (name as keyof typeof budgets.lines) : 'rest'; // it is a key: asked above
}

describe('the budgets of sizes', () => {
  it.each(Object.entries(budgets.lines))('%s has at most %i code lines', (row, most) => {
    expect(linesOf(sources.filter(({ path }) => rowOf(path) === row))).toBeLessThanOrEqual(most);
  });

  it('tests and their support have a budget, too', () => {
    const tests = tokensOf([...sourceFiles('test'), ...files.filter(({ path }) => isTest(path))]);
    expect(linesOf(tests)).toBeLessThanOrEqual(budgets.testLines);
  });

  it('a function fits on a screen, with few exceptions', () => {
    const above = (lines: number): string[] =>
      functionsOf(sources)
        .filter(({ size }) => size > lines)
        .map(({ name, size }) => `${name} (${size})`);
    const [long, longest] = [above(60), above(120)];
    expect(longest.length, longest.join('\n')).toBeLessThanOrEqual(budgets.functionsAbove120Lines);
    expect(long.length, long.join('\n')).toBeLessThanOrEqual(budgets.functionsAbove60Lines);
  });

  it('what is handed over as one has few fields', () => {
    const wide = bagsOf(sources)
      .filter(({ size }) => size > budgets.widestBag)
      .map(({ name, size }) => `${name} (${size})`);
    expect(wide).toEqual([]);
  });

  it('few values are taken for what the compiler does not see', () => {
    const casts = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\bas unknown as\b/g)].map(() => path),
    );
    expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(budgets.castsByUnknown);
  });
});

describe('the measures', () => {
  it('count no comment, no blank line, and the lines of a template', () => {
    const text = '// one\n\n/* two\n three */ const a = `x\n// not a comment`;\n';
    const [file] = tokensOf([{ path: 'src/a.ts', text }]);
    expect(codeLinesOf(file?.text ?? '')).toBe(2);
  });

  it('count the fields of a type with those that it extends', () => {
    const text = 'interface A { x: 1; y: 2 }\ninterface BOptions extends A { z: 3 }\n';
    expect(bagsOf(tokensOf([{ path: 'src/a.ts', text }]))).toEqual([{ name: 'BOptions', size: 3 }]);
  });
});
