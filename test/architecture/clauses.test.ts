import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';

function clausesOf(document: string, sections: RegExp): ReadonlySet<string> {
  const text = readFileSync(new URL(`../../spec/${document}`, import.meta.url), 'utf8');
  return new Set(
    [...text.matchAll(sections)].map(([, clause, section]) => String(clause ?? section)),
  );
}

/** Each document with numbered clauses, and the word that comes before the sign where one of it is cited. */
const documents: readonly (readonly [word: string, document: string, ReadonlySet<string>])[] = [
  ['', 'event-pipeline.md', clausesOf('event-pipeline.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  ['durability', 'durability.md', clausesOf('durability.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  [
    'csdk',
    'csdk-normalization.md',
    clausesOf('csdk-normalization.md', /^(\d+\.\d+) |^### (\d+)\. /gm),
  ],
  [
    'extensions-that-act',
    'extensions-that-act.md',
    clausesOf('extensions-that-act.md', /^(\d+\.\d+) |^## (\d+)\. /gm),
  ],
  ['http', 'http.md', clausesOf('http.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  ['judgement', 'judgement.md', clausesOf('judgement.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  ['record', 'record.md', clausesOf('record.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  ['sight', 'sight.md', clausesOf('sight.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
  ['stream', 'stream-plumbing.md', clausesOf('stream-plumbing.md', /^(\d+\.\d+) |^## (\d+)\. /gm)],
];

const words = documents.flatMap(([word]) => (word === '' ? [] : [word]));
const citation = new RegExp(`(?:(${words.join('|')}) )?§(\\d+(?:\\.\\d+)?)`, 'g');

describe.each(documents)('the clauses of "%s" (spec/%s)', (word, document, clauses) => {
  it('are numbered without gaps', () => {
    expect(clauses.size, document).toBeGreaterThan(0);
    for (const clause of clauses) {
      const [section = '', number] = clause.split('.');
      expect(clauses, clause).toContain(section);
      if (number !== undefined && number !== '1')
        expect(clauses, clause).toContain(`${section}.${Number(number) - 1}`);
    }
  });

  it('exist where code or a test cites them', () => {
    const wrong = [...sourceFiles('src'), ...sourceFiles('test')].flatMap(({ path, text }) =>
      [...text.matchAll(citation)]
        .filter(([, cites = '', clause = '']) => cites === word && !clauses.has(clause))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(wrong).toEqual([]);
  });
});
