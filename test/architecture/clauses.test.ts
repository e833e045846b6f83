import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';

const spec = readFileSync(new URL('../../spec/event-pipeline.md', import.meta.url), 'utf8');
const clauses = new Set(
  [...spec.matchAll(/^(\d+\.\d+) |^## (\d+)\. /gm)].map(([, clause, section]) => clause ?? section),
);

describe('the clauses of spec/event-pipeline.md', () => {
  it('are numbered without gaps', () => {
    for (const clause of clauses) {
      const [section = '', number] = String(clause).split('.');
      expect(clauses, clause).toContain(section);
      if (number !== undefined && number !== '1')
        expect(clauses, clause).toContain(`${section}.${Number(number) - 1}`);
    }
  });

  it('exist where code or a test cites them', () => {
    const wrong = [...sourceFiles('src'), ...sourceFiles('test')].flatMap(({ path, text }) =>
      [...text.matchAll(/§(\d+(?:\.\d+)?)/g)]
        .filter(([, clause]) => !clauses.has(clause))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(wrong).toEqual([]);
  });
});
