import { describe, expect, it } from 'vitest';
import { proseOf, riddles } from '../docs/pages.js';
import { readProjectFile } from '../support/source-tree.js';

const pages = [
  'agent-hooks.md',
  'callback-order.md',
  'catalog-decisions.md',
  'csdk-normalization.md',
  'durability.md',
  'event-pipeline.md',
  'extensions-that-act.md',
  'http.md',
  'judgement.md',
  'names.md',
  'retirement.md',
  'sight.md',
  'stream-plumbing.md',
];

describe.each(pages)('the text of spec/%s', (page) => {
  const text = readProjectFile(`spec/${page}`);

  it('begins no sentence with What, Whose, Where, Whether or Who', () => {
    expect(riddles(proseOf(text.replace(/^\d+\.\d+(?:\.\d+)? /gm, '')))).toEqual([]);
  });

  it('has lines of at most 120 columns, except in tables', () => {
    const long = text.split('\n').filter((line) => line.length > 120 && !line.startsWith('|'));
    expect(long).toEqual([]);
  });
});
