import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';

const spec = readFileSync(new URL('../../spec/csdk-normalization.md', import.meta.url), 'utf8');
const clauses = [...spec.matchAll(/^\*\*(C\d+) /gm)].map(([, clause]) => clause);
const cited = sourceFiles('src', 'test')
  .filter(({ path }) => /claude\/coder|types\/coder/.test(path))
  .flatMap(({ text }) => [...text.matchAll(/\bC\d+\b/g)].map(([clause]) => clause));

describe('the clauses on coder events in spec/csdk-normalization.md', () => {
  it('are numbered without gaps', () => {
    expect(clauses).toEqual(clauses.map((_, at) => `C${at + 1}`));
    expect(clauses.length).toBeGreaterThan(0);
  });

  it('exist where code or a test cites them, and are cited by one', () => {
    expect([...new Set(cited)].toSorted()).toEqual(clauses.toSorted());
  });
});
