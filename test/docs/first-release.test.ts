import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readProjectFile, root } from '../support/source-tree.js';

/** Nothing is published yet. With the first release this sentence and its test are taken away. */
const note =
  /^Until the first release, npm takes these packages from a clone: \[install\]\((?:\.\.\/\.\.\/docs\/)?getting-started\.md#install\)\.$/m;
const byName = /\bnpm (?:install|i|create|init) (?:[\w@./-]+ )*?sluice(?![\w-]*\.tgz)/;

const docs = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md'));
const extensions = readdirSync(`${root}/extensions`).map((name) => `extensions/${name}/README.md`);
/** Getting started is the page that the sentence points to: it says more. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...docs.map((name) => `docs/${name}`),
  ...extensions,
];

describe('a page that installs Sluice by its name', () => {
  it.each(pages.filter((page) => page !== 'docs/getting-started.md'))(
    'says that npm does not have it yet: %s',
    (page) => {
      const text = readProjectFile(page);
      expect(note.test(text)).toBe(byName.test(text));
    },
  );

  it('is none of the first two: their blocks install what a clone has packed', () => {
    expect(byName.test(readProjectFile('README.md'))).toBe(false);
    const blocks = [...readProjectFile('docs/getting-started.md').matchAll(/^```[\s\S]*?^```$/gm)];
    expect(blocks.filter(([block]) => byName.test(block))).toEqual([]);
  });

  it.each(['npm install sluice', 'npm install zod sluice-http', 'npm create sluice agent a'])(
    'is found by: %s',
    (line) => expect(byName.test(line)).toBe(true),
  );

  it('is not found by the path of a tarball', () => {
    expect(byName.test('npm install ../sluice/packed/sluice.tgz zod')).toBe(false);
  });
});
