import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/index.js';

/** What later parts of the project emit: who sends a child's answer on. */
const notYet = /^subagent\.delivery\./;

describe('the emission site of a family', () => {
  it.each(
    canonicalStages
      .filter(({ family }) => !notYet.test(family))
      .map((stage) => [stage.family, stage.emittedAt]),
  )('%s is where its row says (§2.5)', (family, emittedAt) => {
    const file = /^(src\/[\w/-]+\.ts)/.exec(emittedAt)?.[1];
    expect(file, `"${emittedAt}" names no file`).toBeDefined();
    const code = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(code).toContain(`'${family}'`);
  });

  it('is said to be missing where nothing emits a family yet, and only there (§2.5)', () => {
    for (const { family, emittedAt } of canonicalStages)
      expect(emittedAt.startsWith('none yet'), family).toBe(notYet.test(family));
  });
});
