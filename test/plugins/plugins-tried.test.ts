import { describe, expect, it } from 'vitest';
import { expectFresh } from '../support/generated.js';
import { corpus } from './corpus.js';
import { recorded } from './record.js';
import { page } from './table.js';

describe('the page about the plugins that were tried', () => {
  it('shows what the job has found', () => {
    expectFresh('docs/plugins-tried.md', page(corpus, recorded()));
  });

  it('has a result for each plugin that can be installed, and for no other', () => {
    const able = corpus.filter(({ absent }) => absent === undefined).map(({ id }) => id);
    expect(Object.keys(recorded())).toEqual(able);
  });

  it('is about 41 bundled plugins, 21 packages and 5 for OpenClaw 2026.9, of which 25 are tried by default', () => {
    expect(corpus.filter(({ spec }) => spec === undefined)).toHaveLength(41);
    expect(corpus).toHaveLength(67);
    expect(corpus.filter(({ inCi }) => inCi)).toHaveLength(25);
  });
});
