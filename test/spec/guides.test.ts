import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile, root, type SourceFile, sourceFiles } from '../support/source-tree.js';
import { guides } from './guides.js';

/** The documents with rules in numbered clauses, each with the word by which it is cited. */
const documents: Readonly<Record<string, string>> = {
  '': 'event-pipeline.md',
  'durability ': 'durability.md',
  'csdk ': 'csdk-normalization.md',
  'extensions-that-act ': 'extensions-that-act.md',
  'http ': 'http.md',
  'judgement ': 'judgement.md',
  'sight ': 'sight.md',
  'stream ': 'stream-plumbing.md',
};

/** A rule of the spec: each clause is one. */
interface Must {
  readonly name: string;
  readonly section: string;
  readonly text: string;
}

const musts: readonly Must[] = Object.entries(documents).flatMap(([word, page]) =>
  [
    ...readProjectFile(`spec/${page}`).matchAll(/^(\d+)\.(\d+) ([\s\S]*?)(?=\n\n|$(?![\s\S]))/gm),
  ].map(([, section = '', number = '', text = '']) => ({
    name: `${word}${section}.${number}`,
    section: `${word}${section}`,
    text: text.replaceAll('\n', ' '),
  })),
);

const citation = new RegExp(
  `((?:${Object.keys(documents).filter(Boolean).join('|')})?)§(\\d+(?:\\.\\d+)?)`,
  'g',
);

/** The clauses and sections that some files cite. */
function citedIn(files: readonly SourceFile[]): ReadonlySet<string> {
  return new Set(
    files.flatMap(({ text }) =>
      [...text.matchAll(citation)].map(([, word = '', clause = '']) => `${word}${clause}`),
    ),
  );
}

const isTypeTest = ({ path }: SourceFile): boolean => path.startsWith('test/types/');
const tests = [
  ...sourceFiles('test'),
  ...sourceFiles('extensions').filter(({ path }) => path.includes('/test/')),
];
const byType = citedIn(tests.filter(isTypeTest));
const byRun = citedIn(tests.filter((file) => !isTypeTest(file)));

/** Each rule has its guide: the type that refuses what breaks it, a test that runs, or a page that tells it. */
function guideOf({ name, section }: Must): 'type' | 'test' | 'other' | undefined {
  if (byType.has(name)) return 'type';
  if (byRun.has(name) || byRun.has(section)) return 'test';
  return name in guides ? 'other' : undefined;
}

describe('the rules of the spec', () => {
  it('are read', () => {
    expect(musts.length).toBeGreaterThan(600);
    expect(musts.some(({ name }) => name === '3.7')).toBe(true);
  });

  it('have a guide each: a type, a test or a page', () => {
    expect(musts.filter((must) => guideOf(must) === undefined).map(({ name }) => name)).toEqual([]);
  });

  it('are carried by a type if they say that something does not compile', () => {
    const typed = musts.filter(({ text }) => /\b(?:does not compile|compile error)\b/.test(text));
    expect(typed.map(({ name }) => name)).toEqual(expect.arrayContaining(['3.1', '4.4', '8.6']));
    expect(typed.filter((must) => guideOf(must) !== 'type').map(({ name }) => name)).toEqual([]);
  });

  it('that a type carries are these at least', () => {
    const carried = [
      '1.4',
      '1.5',
      '3.1',
      '3.2',
      '3.4',
      '4.4',
      '5.1',
      '5.2',
      '6.1',
      '6.2',
      '7.1',
      '8.1',
      '8.4',
      '8.6',
      '9.1',
      '10.4',
      '13.5',
      '14.16',
    ];
    const ofOthers = [
      'extensions-that-act 4.1',
      'extensions-that-act 9.1',
      'judgement 1.2',
      'judgement 1.3',
      'judgement 2.1',
      'judgement 4.1',
    ];
    expect([...carried, ...ofOthers].filter((name) => !byType.has(name))).toEqual([]);
  });
});

describe('a guide beside the titles of tests', () => {
  it.each(Object.entries(guides))('of %s has the words that show it', (_, [file, words]) => {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(readProjectFile(file).replace(/\s+/g, ' ')).toContain(words);
  });

  it('is named for a rule that has no other', () => {
    const names = new Set(musts.map(({ name }) => name));
    expect(Object.keys(guides).filter((name) => !names.has(name))).toEqual([]);
    const cited = musts.filter(
      ({ name, section }) => byType.has(name) || byRun.has(name) || byRun.has(section),
    );
    expect(cited.map(({ name }) => name).filter((name) => name in guides)).toEqual([]);
  });
});
