import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expectFresh } from '../../support/generated.js';
import { corpus } from './corpus.js';
import { recorded } from './record.js';
import { kindOfEnd, page } from './table.js';

describe('the page about the plugins that were tried', () => {
  it('shows what the job has found', () => {
    expectFresh('docs/plugins-tried.md', page(corpus, recorded()));
  });

  it('has a result for each plugin that can be installed, and for no other', () => {
    const able = corpus.filter(({ absent }) => absent === undefined).map(({ id }) => id);
    expect(Object.keys(recorded())).toEqual(able);
  });

  it('counts those channels as working that the suite of channels talks by, and no other', () => {
    const talking = corpus.filter(({ talks }) => talks).map(({ id }) => id.replace(/^oc-/, ''));
    const suites = readdirSync(fileURLToPath(new URL('../installed-channels', import.meta.url)))
      .filter((file) => file.endsWith('.channel.ts'))
      .map((file) => file.slice(0, -'.channel.ts'.length));
    const alone = ['calls', ...['feishu', 'mattermost', 'signal'].map((id) => `openclaw-${id}`)]; // as the page says
    expect(talking.toSorted()).toEqual(suites.filter((one) => !alone.includes(one)).toSorted());
  });

  it('lists no call that fails without saying what it needs', () => {
    const ends = Object.values(recorded()).flatMap(({ calls }) => Object.values(calls));
    expect(ends.filter((end) => kindOfEnd(end) === 'fails')).toEqual([]);
  });

  it('is about 41 bundled plugins, 21 packages and 6 for OpenClaw 2026.9, of which 26 are tried by default', () => {
    expect(corpus.filter(({ spec }) => spec === undefined)).toHaveLength(41);
    expect(corpus).toHaveLength(68);
    expect(corpus.filter(({ inCi }) => inCi)).toHaveLength(26);
  });
});
