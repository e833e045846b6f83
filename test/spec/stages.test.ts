import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/index.js';
import { expectFresh, heading } from '../support/generated.js';
import { stageList, stageSection } from '../support/stage-document.js';

describe('spec/stages.md', () => {
  it('shows every column of every stage', () => {
    const about =
      'Every family of the pipeline, in the order in which a message and a process meet them, as its row in\n' +
      '`src/kernel/catalog` declares it. The rules are in [event-pipeline.md](event-pipeline.md); why a row is as it\n' +
      'is, where the rules leave it open, is in [catalog-decisions.md](catalog-decisions.md).';
    const document = [
      heading('Stages', about, 'test/spec/stages.test.ts').trimEnd(),
      stageList(canonicalStages),
      ...canonicalStages.map(stageSection),
    ].join('\n\n');
    expectFresh('spec/stages.md', `${document}\n`);
  });

  it('names for every stage its purpose and when it is emitted', () => {
    const mute = canonicalStages.filter(({ purpose, emittedWhen }) => !purpose || !emittedWhen);
    expect(mute.map(({ family }) => family)).toEqual([]);
  });
});
