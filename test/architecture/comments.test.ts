import { describe, expect, it } from 'vitest';
import { type SourceFile, sourceFiles } from '../support/source-tree.js';

/** The lines of a file on which a comment begins with a word that CONTRIBUTING.md rules out. */
function riddles({ path, text }: SourceFile): string[] {
  return text
    .split('\n')
    .filter((line) =>
      /(^\s*(\/\*\*|\*|\/\/)|;\s+\/\/) *(What|Whose|Where|Who|Whether)\b/.test(line),
    )
    .map((line) => `${path}: ${line.trim()}`);
}

describe('the comments of the source', () => {
  it('name the noun: none begins with What, Whose, Where, Who or Whether', () => {
    const files = sourceFiles('src', 'extensions').filter(({ path }) => /(^|\/)src\//.test(path));
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap(riddles)).toEqual([]);
  });

  it.each(['/** What it has. */', ' * Where it goes.', 'go(); // Whose it is', '  // Who asks'])(
    'are found if one does: %s',
    (text) => {
      expect(riddles({ path: 'a.ts', text })).toHaveLength(1);
    },
  );
});
